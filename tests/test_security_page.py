"""docs/security.md: its limits are those of the code, and a test keeps each of its promises."""

import ast
import re
from pathlib import Path

import pytest
import uvicorn

from idx.containers.archive import _MAX_FILES
from idx.containers.mail import _MAX_ATTACHMENTS, MAX_MESSAGES
from idx.crawl.patterns import _MAX_IGNORE_FILE_BYTES
from idx.extraction import types as budget
from idx.extraction.pool import _MAX_BYTES_AHEAD
from idx.markup import markdown as front_matter
from idx.office.labelled_rows import _MAX_GROWTH
from idx.text import properties
from server import instructions, log, prompts
from server.answers import errors, text
from server.http import oauth, run, tokens
from server.http.limits import ADMISSION_TIMEOUT_SECONDS, MAX_HEADER_BYTES
from server.http.oauth import (
    _FETCH_SECONDS,
    _FRESH_SECONDS,
    _LEEWAY_SECONDS,
    _MAX_KEY_SET_BYTES,
    _MAX_KEYS,
    _MIN_FETCH_INTERVAL_SECONDS,
    _USABLE_SECONDS,
)
from server.http.run import _BACKLOG
from server.lucene_pool import _MAX_THREADS, MAX_ABANDONED_CALLS, MAX_SLOW_CALLS
from server.resources import changes
from server.search_server import MAX_ARGUMENTS
from server.settings import HttpSettings, ServerSettings
from server.state import _STOP_GRACE_SECONDS
from server.tools import arguments
from shared import rewriting
from shared.language_models import transport
from shared.model import document, metadata
from shared.query import limits
from shared.rewriting import MAX_ANSWER_TOKENS
from shared.settings import defaults as shared_settings

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "security.md"

WITHOUT_PROMISES = {"What it does not promise", "Reporting a vulnerability"}


def seconds(value: float) -> str:
    return f"{value:,.0f} s"


def characters(value: int) -> str:
    return f"{value:,} characters"


def megabytes(value: float) -> str:
    return f"{value / 1e6:,.0f} MB"


def expected() -> dict[str, str]:
    """The limits by what they limit, as the page spells them."""
    return {
        "body of a request": megabytes(HttpSettings.max_body * 1e6),
        "headers of a request": f"{MAX_HEADER_BYTES // 1024} KiB",
        "requests that run at once": f"{HttpSettings.max_requests}",
        "streams for news, open at once": f"{HttpSettings.max_sessions:,}",
        "sessions": f"{HttpSettings.max_sessions:,}",
        "time without a request in a session": seconds(HttpSettings.idle_timeout),
        "time to send a request, after its headers": seconds(HttpSettings.receive_timeout),
        "time in which a client takes nothing of an answer": seconds(HttpSettings.receive_timeout),
        "time between two requests of a connection": seconds(uvicorn.Config("").timeout_keep_alive),
        "connections": "half the files that the process may open",
        "connections that wait to be accepted": f"{_BACKLOG}",
        "time that calls have when the server stops": seconds(run.STOP_SECONDS),
        "messages that wait until somebody reads stderr, of 20,000 characters at most": (
            f"{log.MAX_WAITING_RECORDS:,}"
        ),
        "shortest token": characters(tokens.MIN_TOKEN_CHARACTERS),
        "signatures of access tokens": ", ".join(oauth.ALGORITHMS),
        "difference of the two clocks": seconds(_LEEWAY_SECONDS),
        "age of the issuer's keys": seconds(_FRESH_SECONDS),
        "age of keys that cannot be fetched again": seconds(_USABLE_SECONDS),
        "pause between two fetches": seconds(_MIN_FETCH_INTERVAL_SECONDS),
        "time to fetch keys": seconds(_FETCH_SECONDS),
        "document from the issuer": megabytes(_MAX_KEY_SET_BYTES),
        "keys of an issuer": f"{_MAX_KEYS}",
        "query": characters(limits.MAX_QUERY_LENGTH),
        "words, phrases and patterns of a query": f"{limits.MAX_TERMS:,}",
        "clauses that Lucene makes of them": f"{limits.MAX_CLAUSES:,}",
        "parentheses of a query within each other": f"{limits.MAX_DEPTH}",
        "letters of a word with `~`, and of all of a query": (
            f"{limits.MAX_FUZZY_LETTERS} and {limits.MAX_FUZZY_LETTERS_IN_ALL}"
        ),
        "arguments of a call": f"{MAX_ARGUMENTS}",
        "filters of a search": f"{arguments.MAX_FILTERS}",
        "values that its filters compare with": f"{arguments.MAX_FILTER_VALUES:,}",
        "product of the weights behind `^`": f"{limits.MAX_BOOST:.0e}",
        "repetitions in a regular expression, in one pair of braces": (f"{limits.MAX_REPETITIONS}"),
        "letters of a regular expression": f"{limits.MAX_EXPRESSION_LETTERS}",
        "letters of all regular expressions of a query": f"{limits.MAX_EXPRESSIONS_LETTERS:,}",
        "terms of the index that all patterns of a query have Lucene look at": (
            f"{limits.MAX_TERMS_LOOKED_AT:,}"
        ),
        "time of a call, after its query was [rewritten](rewriting.md)": seconds(
            ServerSettings.time_budget
        ),
        "time that a call has to stop then": seconds(_STOP_GRACE_SECONDS),
        "calls that Lucene answers at once": f"2 for each core, {_MAX_THREADS}",
        "calls of over 0.2 s, beside those": f"{MAX_SLOW_CALLS}",
        "calls that go on although they were given up, beside those": f"{MAX_ABANDONED_CALLS}",
        "heap of the Java virtual machine": f"{shared_settings.DEFAULT_JAVA_HEAP} MiB",
        "answer": characters(text.DEFAULT_CHARACTERS),
        "answer that a client can ask for": characters(text.MAX_CHARACTERS),
        "error": characters(errors.MAX_ERROR_CHARACTERS),
        "instructions": characters(instructions.MAX_INSTRUCTIONS_CHARACTERS),
        "values of a completion": f"{prompts.MAX_VALUES}",
        "URI of a resource": characters(text.MAX_URI_CHARACTERS),
        "resources that a session or a stream subscribes to": f"{changes.MAX_SUBSCRIPTIONS:,}",
        "resources that all clients together subscribe to": f"{changes.MAX_WATCHED:,}",
        "time to take the news of a change": seconds(changes.SEND_TIMEOUT_SECONDS),
        "file": megabytes(shared_settings.DEFAULT_MAX_MEGABYTES * 1e6),
        "time to read a file": seconds(shared_settings.DEFAULT_TIMEOUT),
        "memory to read a file": megabytes(shared_settings.DEFAULT_MAX_MEMORY * 1e6),
        "unpacked size of an Office file or e-book": (
            f"{megabytes(budget.MIN_UNPACKED_BYTES)}, or {budget.MAX_RATIO} times its size"
        ),
        "bytes unpacked from an archive or message, whatever is within it": (
            f"{megabytes(budget.MIN_UNPACKED_BYTES)}, or {budget.MAX_RATIO} times its size"
        ),
        "files of an archive, attachments, messages of a mailbox": (
            f"{_MAX_FILES:,}, {_MAX_ATTACHMENTS:,} and {MAX_MESSAGES:,}"
        ),
        "files within each other": f"{budget.MAX_DEPTH}",
        "rows of a sheet or CSV file": f"{shared_settings.DEFAULT_MAX_ROWS:,}, `--max-rows`",
        "length of a CSV file with its headings": f"{_MAX_GROWTH} times its size",
        "files read ahead": megabytes(_MAX_BYTES_AHEAD),
        "ignore file": characters(_MAX_IGNORE_FILE_BYTES),
        "front matter of Markdown": characters(front_matter.MAX_FRONT_MATTER),
        "lists and objects of a front matter within each other": f"{front_matter.MAX_LEVELS}",
        "what a file says of itself, such as its author": characters(properties.MAX_LENGTH),
        "keywords of a file": f"{properties.MAX_KEYWORDS}",
        "text of a file that nobody sees": characters(properties.MAX_HIDDEN_TEXT),
        "id, and title": characters(document.MAX_ID),
        "metadata keys of a document that are fields": f"{metadata.MAX_KEYS}",
        "metadata keys of all documents that are fields": f"{metadata.MAX_FIELDS:,}",
        "key of the metadata": characters(document.MAX_KEY_LENGTH),
        "metadata of a document, as JSON": characters(document.MAX_METADATA),
        "query that is rewritten": characters(rewriting.MAX_QUERY_CHARACTERS),
        "time to rewrite it": seconds(shared_settings.DEFAULT_NORMALIZER_TIMEOUT),
        "body of the model's answer": f"{transport.MAX_BODY_BYTES:,} bytes",
        "rewritten query": characters(rewriting.MAX_ANSWER_CHARACTERS),
        "tokens of the model's answer": f"{MAX_ANSWER_TOKENS}",
    }


def test_the_limits_are_those_of_the_code() -> None:
    (section,) = re.findall(r"^## Limits\n(.*?)^## ", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$", section, re.MULTILINE)
    told = [row for row in rows if row != ("what", "limit")]
    assert len(told) == len(dict(told))
    assert dict(told) == expected()
    assert f"unless one ends within {ADMISSION_TIMEOUT_SECONDS:g} s" in section


def sections() -> dict[str, str]:
    return dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n?)*)", PAGE.read_text(), re.MULTILINE))


def functions_in(file: str) -> set[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = ast.parse((ROOT / file).read_text()).body
    return {node.name for node in nodes if isinstance(node, functions)}


def test_every_promise_names_tests_that_exist() -> None:
    for heading, section in sections().items():
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", section)
        assert bool(named) is (heading not in WITHOUT_PROMISES), heading
        for file, name in named:
            assert name in functions_in(file), f"{file}::{name}"
        rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", section, re.MULTILINE)
        promises = [row for row in rows if "tests/" in row[1]]
        tables = section.count("| promise | kept by |")
        assert bool(promises) is bool(tables)
        for _, kept_by in promises:
            assert re.fullmatch(r"`tests/[\w/]+\.py::\w+`(, `tests/[\w/]+\.py::\w+`)*", kept_by)


@pytest.mark.parametrize(
    "file",
    [
        "requirements.txt",
        "tests/clients/python/requirements.txt",
        "deployment/requirements.txt",
        "deployment/build.txt",
        "deployment/pycld2/requirements.txt",
    ],
)
def test_every_package_is_pinned_by_version_and_hash(file: str) -> None:
    text = (ROOT / file).read_text()
    pin = r"^[\w.\[\]-]+==\S+(?: ; [^\\\n]*)? \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+"
    rest = re.sub(pin, "", text, flags=re.MULTILINE)
    assert re.sub(r"^\s*#.*\n", "", rest, flags=re.MULTILINE) == ""
    assert "://" not in text
