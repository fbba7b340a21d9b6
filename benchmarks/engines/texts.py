"""The texts that every engine gets, made beforehand and written into files.

A line of a file has columns with tabs between them, which no text has: Python and Java read that
equally fast. Nothing heavy is imported here, for the memory of a process that reads is measured.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlencode

from benchmarks.made_up_texts import chunks

if TYPE_CHECKING:
    from shared.analysis.languages import Chain
    from shared.model.document import Document, Metadata

YEARS: Final = 20
RESOURCES: Final = Path(__file__).parents[2] / "shared" / "analysis"
"""Where the analyzers' dictionaries and lists of words are."""


class Row(NamedTuple):
    """A text of one chunk, and what is known of it."""

    id: str
    title: str
    language: str
    year: str
    content: str


def write_texts(file: Path, count: int) -> None:
    """Write a number of made-up texts, always the same ones."""
    _write(
        file,
        (
            Row(str(number), f"Title {number}", language, str(2000 + number % YEARS), content)
            for number, (language, content) in enumerate(chunks(count))
        ),
    )


def rows(file: Path) -> Iterator[Row]:
    """The texts of a file that `write_texts` wrote."""
    with file.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            yield Row(*line.rstrip("\n").split("\t"))


def documents(file: Path) -> Iterator["Document"]:
    """The same texts as documents of this project."""
    from shared.model.document import Document

    for row in rows(file):
        metadata: Metadata = {"language": row.language, "year": int(row.year)}
        yield Document(row.id, row.title, row.content, metadata)


def write_fields(texts: Path, fields: Path, analyzers: Path) -> None:
    """Write what this project makes of each text, for Java to write the same fields.

    It starts the virtual machine.

    Args:
        texts: the texts.
        fields: where to write the columns of a text, then those of its chunk: the chunk's id and
            language, and the texts of the fields `schema.REVERSED`, `schema.STEMS`,
            `schema.TITLE_STEMS`, `schema.IDENTIFIERS` and `schema.DETAILS`.
        analyzers: where to write the steps of each field that is analyzed.
    """
    from shared.analysis.analyzers import writing_steps
    from shared.java import vm
    from shared.model import schema

    vm.start("batch")
    known = {schema.CONTENT, schema.TITLE}
    with fields.open("w", encoding="utf-8", newline="\n") as file:
        for row, document in zip(rows(texts), documents(texts), strict=True):
            by_name = _fields(document)
            columns = (
                *(schema.ID, schema.LANGUAGES, schema.REVERSED, schema.STEMS, schema.TITLE_STEMS),
                *(schema.IDENTIFIERS, schema.DETAILS),
            )
            print(*row, *(by_name.get(name, "") for name in columns), sep="\t", file=file)
            known |= by_name.keys()
    analyzed = [name for name in sorted(known) if name.split(".")[0] in _ANALYZED]
    _write(analyzers, ((name, *_steps(writing_steps(name))) for name in analyzed))


_ANALYZED: Final = ("content", "title", "identifiers", "stems", "title_stems")


def _fields(document: "Document") -> dict[str, str]:
    """The fields of the only chunk of a document, by their names, that are text."""
    from org.apache.lucene.index import IndexableField

    from shared.storage.mapping import to_lucene

    ((chunk,),) = to_lucene(document)
    fields: list[Any] = [IndexableField.cast_(field) for field in chunk]
    return {field.name(): field.stringValue() or "" for field in fields}


def _steps(steps: "Chain") -> Iterator[str]:
    """The steps of an analyzer, with their parameters as in URLs."""
    for step in (steps.tokenizer, *steps.filters):
        yield f"{step.name}?{urlencode(step.parameters)}" if step.parameters else step.name


def _write(file: Path, table: Iterable[Iterable[str]]) -> None:
    with file.open("w", encoding="utf-8", newline="\n") as lines:
        lines.writelines("\t".join(columns) + "\n" for columns in table)
