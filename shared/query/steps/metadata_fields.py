"""The step for fields that the query names: ``author:Ann`` means a key of the metadata.

| name                                   | means                                              |
|----------------------------------------|----------------------------------------------------|
| a key of the metadata                  | values that have the words, in any case            |
| `language`, `filetype`, `ext`, `type`, | a filter: every hit meets it, and no score changes |
| `folder`                               |                                                    |
| `from`, `subject`                      | the sender and the subject of mails                |

A key of the metadata comes first where it is called like one of the others, `language` excepted,
which is a filter.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from org.apache.lucene.index import Term

from shared.model import metadata, schema
from shared.model.filters import FOLDER
from shared.query.steps.metadata_values import value_words
from shared.query.syntax import is_number
from shared.query.tree import (
    Expression,
    Fuzzy,
    Leaf,
    Node,
    Occur,
    Phrase,
    Range,
    Terms,
    Wildcard,
    Word,
    all_of,
    any_of,
)
from shared.storage.commits import remembered
from shared.storage.field_names import all_fields, metadata_fields

Named = Word | Phrase | Wildcard | Fuzzy | Expression | Range
"""What may stand behind the name of a field."""

_MAIL: Final = "message/rfc822"
"""The type of mails, whose title is their subject and whose author is their sender."""

_SENDER: Final = "from"

_EXTENSIONS: Final = ("filetype", "ext")
_TYPE: Final = "type"
"""Names of the extension of a file. The last one is a word of programs, too, so it is a name only
before an extension that some file has."""

_TYPE_BEFORE: Final = re.compile(rf"(?<![^\s(+\-!]){_TYPE}:([\w.]*)")
_WILDCARD: Final = re.compile(r"[\\*?]")

ALWAYS_FIELDS: Final = (schema.TITLE, schema.CONTENT, schema.SOURCE_DOCUMENT, schema.ID)
"""Fields that a query may name in every index."""


@dataclass(frozen=True)
class NamedFields:
    """What the names before a colon mean in an index.

    Attributes:
        keys: those of the metadata, and whether a key has numbers among its values.
        filters: the names of filters, and the keys of what they are about.
        has_mails: whether any document is a mail.
    """

    keys: Mapping[str, bool]
    filters: Mapping[str, str]
    has_mails: bool

    @property
    def names(self) -> tuple[str, ...]:
        """What may stand before a colon beside the fields that every index has."""
        return tuple(dict.fromkeys((*self.filters, *self.of_mails, *self.keys)))

    @property
    def of_mails(self) -> tuple[str, ...]:
        """The names that mean something of mails."""
        if not self.has_mails:
            return ()
        return (metadata.SUBJECT,) if _SENDER in self.keys else (_SENDER, metadata.SUBJECT)

    def on_fields(self, leaf: Leaf, _: Occur) -> Node:
        """A leaf that names a field on the field that is meant.

        Of a key that has numbers, a range of numbers is looked for among them, and a number among
        them and among the texts: a year may be either.
        """
        if not isinstance(leaf, Named) or leaf.field is None:
            return leaf
        if leaf.field.startswith(schema.metadata_field("")):
            return _within_values(leaf)
        if leaf.field in self.of_mails:
            return self._of_mails(leaf, leaf.field)
        if leaf.field in self.filters:
            return _within_values(
                replace(leaf, field=schema.metadata_field(self.filters[leaf.field]))
            )
        return self._of_key(leaf, leaf.field) if leaf.field in self.keys else leaf

    def _of_key(self, leaf: Named, key: str) -> Node:
        as_text = replace(leaf, field=schema.metadata_field(key))
        as_number = replace(leaf, field=schema.number_field(key))
        match leaf:
            case Word(text) if self.keys[key] and is_number(text):
                return any_of(as_text, as_number)
            case Range(low, high) if self.keys[key]:
                bounds = [bound for bound in (low, high) if bound is not None]
                # Whatever has a value, number or text, is in a range without bounds.
                return as_number if bounds and all(map(is_number, bounds)) else as_text
        return _within_values(as_text)

    def _of_mails(self, leaf: Named, name: str) -> Node:
        """A sender or a subject of mails; a subject may be a key of other documents, too."""
        if name == _SENDER:
            said = _within_values(replace(leaf, field=schema.metadata_field(metadata.AUTHOR)))
        else:
            said = replace(leaf, field=schema.TITLE)
        of_mails = all_of(said, Terms(schema.metadata_field(metadata.FILE_TYPE), (_MAIL,)))
        return any_of(self._of_key(leaf, name), of_mails) if name in self.keys else of_mails


@remembered
def named_fields(reader: Any) -> NamedFields:
    """What the names before a colon mean in an index, but for `type`."""
    existing = all_fields(reader)
    names = (name.removeprefix(schema.metadata_field("")) for name in metadata_fields(existing))
    keys = {key: schema.number_field(key) in existing for key in names}
    filters = {metadata.LANGUAGE: metadata.LANGUAGE} if metadata.LANGUAGE in keys else {}
    if metadata.FILE_EXTENSION in keys:
        filters |= {name: metadata.FILE_EXTENSION for name in _EXTENSIONS if name not in keys}
    if schema.FILE_PATH in keys and FOLDER not in keys:
        filters[FOLDER] = schema.FILE_PATH
    mails = reader.docFreq(Term(schema.metadata_field(metadata.FILE_TYPE), _MAIL))
    return NamedFields(keys, filters, has_mails=mails > 0)


def with_type(fields: NamedFields, text: str, reader: Any) -> NamedFields:
    """The same fields, and `type` if it is before extensions only that files have.

    Args:
        fields: those of the index.
        text: the query.
        reader: the reader of the index.
    """
    values = _TYPE_BEFORE.findall(text)
    if not values or _TYPE in fields.keys or metadata.FILE_EXTENSION not in fields.keys:
        return fields
    field = schema.metadata_field(metadata.FILE_EXTENSION)
    if not all(reader.docFreq(Term(field, value.lower())) for value in values):
        return fields
    return replace(fields, filters={**fields.filters, _TYPE: metadata.FILE_EXTENSION})


def _within_values(leaf: Named) -> Node:
    """Words of a query as words within values; what is more than words stays as it is."""
    match leaf:
        case Word(text):
            pattern = _WILDCARD.sub(r"\\\g<0>", text)
        case Phrase(words):
            pattern = _WILDCARD.sub(r"\\\g<0>", " ".join(words))
        case Wildcard(pattern):
            pass
        case _:
            return leaf
    return value_words(leaf.field or "", pattern) or leaf
