"""The README's Python runs as it stands."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import EMBEDDING

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.server
def test_the_examples_of_the_readme_run(shop, capsys):
    def embed(question):
        return EMBEDDING

    names = {"model": SimpleNamespace(encode=embed), "embeddings": SimpleNamespace(embed_query=embed)}
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.S)
    assert len(blocks) == 2
    try:
        for block in blocks:
            exec(block.replace('"dbname=shop"', repr(shop)), names)
        assert "document 1 Grip for wet rock, 290 g. number 1 of the 3 nearest documents" in capsys.readouterr().out
        assert names["shop"].context(3, up=2)[0].label == "Shoes"
        assert [row.mention for row in names["shop"].entities("trail-shoes for rain?")] == ["trail-shoes"]
        assert len(names["retriever"].invoke("Which running shoes are there in size 42?")) > 4
    finally:
        names["pool"].close()
