"""The texts that every engine gets, made beforehand and written into files.

A line of a file has columns with tabs between them, which no text has: Python and Java read that
equally fast. Nothing heavy is imported here, for the memory of a process that reads is measured.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlencode

from tests.tools.made_up_texts import chunks

if TYPE_CHECKING:
    from shared.analysis.analyzers import Chain
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

    `fields` gets the columns of a text, then those of its chunk: the chunk's id, its language, the
    texts of the fields `schema.REVERSED`, `schema.STEMS`, `schema.TITLE_STEMS`, `schema.DIGITS` and
    `schema.DETAILS`, the terms of its fingerprint, and the fingerprint in base64. Values of a field
    have blanks between them. `analyzers` gets the steps of each field that is analyzed; those of
    stems have a colon and the language behind them.
    """
    from shared.analysis.analyzers import chain_of
    from shared.java import vm
    from shared.model import schema

    vm.start("batch")
    languages = set()
    with fields.open("w", encoding="utf-8", newline="\n") as file:
        for row, document in zip(rows(texts), documents(texts), strict=True):
            by_name = _fields(document)
            columns = (
                *(schema.ID, schema.LANGUAGES, schema.REVERSED, schema.STEMS, schema.TITLE_STEMS),
                *(schema.DIGITS, schema.DETAILS, schema.FINGERPRINT, _STORED_FINGERPRINT),
            )
            values = (" ".join(by_name.get(name, ())).replace("\n", " ") for name in columns)
            print(*row, *values, sep="\t", file=file)
            languages.update(by_name[schema.LANGUAGES])
    chains = {
        name: chain_of(name)
        for name in (schema.CONTENT, schema.TITLE, schema.REVERSED, schema.DIGITS)
    }
    for name in schema.STEM_FIELDS:
        chains |= {f"{name}:{code}": chain_of(name, code) for code in sorted(languages)}
    _write(analyzers, ((name, *_steps(chain)) for name, chain in chains.items()))


_STORED_FINGERPRINT: Final = "fingerprint as bytes"


def _fields(document: "Document") -> dict[str, list[str]]:
    """The values of the only chunk of a document by the names of their fields, each once."""
    from org.apache.lucene.index import IndexableField

    from shared.model import schema
    from shared.storage.mapping import to_lucene
    from shared.storage.vectors import bytes_of

    ((_, (chunk,)),) = to_lucene(document)
    found: dict[str, list[str]] = {}
    for each in chunk:
        field: Any = IndexableField.cast_(each)
        text = field.stringValue()
        values = found.setdefault(field.name(), [])
        if text is not None and text not in values:
            values.append(text)
        if field.name() == schema.FINGERPRINT and field.binaryValue() is not None and text is None:
            stored = b64encode(bytes_of(field.binaryValue())).decode()
            found[_STORED_FINGERPRINT] = [stored]
    return found


def _steps(chain: "Chain") -> Iterator[str]:
    """The steps of an analyzer behind their kind, with their parameters as in URLs."""
    kinds = {"char": chain.char_filters, "tokens": (chain.tokenizer,), "filter": chain.filters}
    for kind, steps in kinds.items():
        for step in steps:
            yield f"{kind} {step.name}?{urlencode(step.parameters)}"


def _write(file: Path, table: Iterable[Iterable[str]]) -> None:
    with file.open("w", encoding="utf-8", newline="\n") as lines:
        lines.writelines("\t".join(columns) + "\n" for columns in table)
