"""Queries of a test collection, from BEIR's JSON Lines, a table with tabs, or TREC's topics."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from idx.errors import SourceFileError
from idx.evaluation.collection.input_file import Line, UniqueIds, error_at, peek, read_lines
from idx.evaluation.collection.json_lines import entries
from idx.evaluation.collection.trec_markup import blocks


@dataclass(frozen=True, slots=True)
class Query:
    """Query with its id in the judgements."""

    id: str
    text: str


class _Entry(BaseModel):
    """Query in JSON; other keys are ignored."""

    model_config = ConfigDict(strict=True)

    id: str | int = Field(validation_alias=AliasChoices("_id", "id"))
    text: str


def read_queries(file: Path) -> list[Query]:
    """Read the queries of a file in order.

    Args:
        file: JSON Lines with ``_id`` or ``id``, and ``text``; or an id, a tab and a text on each
            line; or TREC's topics, whose titles are the queries.

    Raises:
        SourceFileError: the file has none of these formats, is invalid, or has a duplicate id.
    """
    first, lines = peek(read_lines(file))
    if first.lstrip().startswith("{"):
        found = _from_json_lines(file, lines)
    elif first.lstrip().lower().startswith("<top>"):
        found = _from_topics(file, lines)
    elif "\t" in first:
        found = _from_table(file, lines)
    else:
        raise SourceFileError(
            file,
            "is in no format of queries: neither a JSON object with '_id' and 'text' on each "
            "line, nor an id, a tab and a text, nor <top>…</top> of TREC",
        )
    ids = UniqueIds(file, "query")
    queries = []
    for number, query in found:
        if not query.id:
            raise error_at(file, number, "the query has no id")
        if not query.text:
            raise error_at(file, number, f"the query {query.id[:80]!r} has no text")
        ids.add(query.id, number)
        queries.append(query)
    return queries


def _from_json_lines(file: Path, lines: Iterator[Line]) -> Iterator[tuple[int, Query]]:
    for number, entry in entries(file, lines, _Entry):
        yield number, Query(str(entry.id), entry.text.strip())


def _from_table(file: Path, lines: Iterator[Line]) -> Iterator[tuple[int, Query]]:
    for line in lines:
        id_, tab, text = line.text.partition("\t")
        if not tab:
            raise error_at(file, line.number, "is not an id, a tab and a text")
        yield line.number, Query(id_.strip(), text.strip())


def _from_topics(file: Path, lines: Iterator[Line]) -> Iterator[tuple[int, Query]]:
    for topic in blocks(file, lines, "top"):
        # These labels are present in the topics of some years and missing in others.
        id_ = topic.unclosed("num").removeprefix("Number:").strip()
        title = topic.unclosed("title").removeprefix("Topic:").strip()
        yield topic.line, Query(id_, title)
