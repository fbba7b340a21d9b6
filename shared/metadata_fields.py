"""Which keys of metadata the documents of an index have."""

from typing import Any

from org.apache.lucene.index import FieldInfo, FieldInfos

from shared import schema
from shared.errors import FilterError


def metadata_field_of(key: str, reader: Any) -> str:
    """The Lucene field of a key of metadata.

    Args:
        key: such as ``author``.
        reader: the reader to be searched, which knows the fields that exist.

    Raises:
        FilterError: no document has it; the message lists those there are.
    """
    field = schema.metadata_field(key)
    fields = FieldInfos.getMergedFieldInfos(reader)
    if fields.fieldInfo(field) is None:
        names = [FieldInfo.cast_(info).name for info in fields]
        prefix = schema.metadata_field("")
        known = sorted(name.removeprefix(prefix) for name in names if name.startswith(prefix))
        raise FilterError(
            f"no document has the field {key!r}; the fields are "
            + ", ".join([*schema.KEYWORD_FIELDS, schema.CHUNK_INDEX, *known[:50]])
        )
    return field
