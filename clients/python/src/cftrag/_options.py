"""What the command line and the MCP server share: the options that name a database and a model, and errors in words."""

import argparse
import importlib
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from typing import Any, TypeVar

import psycopg

from ._values import AsyncEmbed

Number = TypeVar("Number", int, float)
WHICH = re.compile(r"(Say which one: )(edges|documents) => '((?:[^']|'')*)'")

def add_database(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dsn", default="", help="the database: 'host=... dbname=...' or postgresql://... (default: what PGHOST, PGDATABASE and the like say)")


def add_tables(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--edges", help="the attached edges table; needed only where search_path shows several")
    parser.add_argument("--documents", help="the attached table of documents; needed only where search_path shows several")


def add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--embed", type=model, metavar="MODULE:FUNCTION", help="the model: a function from a text to its embedding; without it search works by words"
    )


def at_least(least: Number) -> Callable[[str], Number]:
    """What an option's text is as a number, of that kind, that is not less."""

    def number(given: str) -> Number:
        found = type(least)(given)
        if not found >= least:  # Nor is NaN.
            raise argparse.ArgumentTypeError(f"{given} is too small: at least {least}")
        return found

    return number


def model(given: str) -> AsyncEmbed:
    """The function that --embed names."""
    module, colon, name = given.partition(":")
    if not colon:
        raise argparse.ArgumentTypeError(f"{given} is not of the form module:function, as in my_models:embed")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        with redirect_stdout(sys.stderr):  # Standard output is for what a command says, and for the protocol of MCP.
            found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise argparse.ArgumentTypeError(f"{given} cannot be imported: {error}") from error
    if not callable(found):
        raise argparse.ArgumentTypeError(f"{given} is not a function")
    return found  # type: ignore[no-any-return]


def in_words(error: psycopg.Error) -> str:
    """The message of an error, with its detail and hint."""
    message = error.diag.message_primary or ""
    if isinstance(error, psycopg.errors.QueryCanceled) and "statement timeout" in message:
        return "the database took too long (statement timeout)\nHint: Ask for less (up, down, k, within), or start with a longer --timeout."
    words = "\n".join(lines(error.diag)) or str(error).strip()
    if isinstance(error, (psycopg.errors.UndefinedFunction, psycopg.errors.UndefinedTable)) and ("cft_" in message or "cftrag" in message):
        words += "\nHint: CREATE EXTENSION cftrag CASCADE in this database, or put its schema into the search_path."
    return words


def lines(said: psycopg.errors.Diagnostic) -> Iterator[str]:
    """What the server says in an error or a notice."""
    if said.message_primary:
        yield said.message_primary
    if said.message_detail:
        yield f"Detail: {said.message_detail}"
    if said.message_hint:
        yield f"Hint: {WHICH.sub(_option, said.message_hint)}"


def _option(hint: re.Match[str]) -> str:
    """An argument of SQL as the option that gives it."""
    table = hint[3].replace("''", "'")
    return f"{hint[1]}--{hint[2]} {shlex.quote(table)}"
