"""Short JSON Schemas of tools, which occupy the context of every conversation.

pydantic adds a title to each property, the docstrings of Python classes, and a definition for each
class. What is left has the words only that all clients and models take: Gemini refuses a whole
conversation for an exclusive bound, a constant, a reference, or a description beside a union.
"""

from collections.abc import Callable, Set as AbstractSet
from functools import partial
from typing import Any, Final

_REFERENCE: Final = "#/$defs/"

_NULL_SCHEMA: Final = {"type": "null"}
_NUMBER_SCHEMA: Final = {"type": "number"}
_INTEGER_SCHEMA: Final = {"type": "integer"}

_SCHEMA_MAPS: Final = frozenset({"properties", "$defs"})
"""Keywords that hold schemas by name, where ``title`` is the name of a field."""

_SINGLE_TYPE_KEYWORDS: Final = frozenset({"type", "items", "properties", "additionalProperties"})
"""Keywords that constrain values of one type only, so that those of several types can be merged."""

Schema = dict[str, Any]


def short_input_schema(schema: Schema) -> Schema:
    """Shorten the schema of a tool's arguments; the description of each argument stays.

    Args:
        schema: the schema as pydantic generates it.
    """
    short = {
        **schema,
        "$defs": {
            name: _without(definition, {"description"})
            for name, definition in schema.get("$defs", {}).items()
        },
    }
    common: Schema = _in_common_words(_with_few_options(_inlined(_without(short, {"title"}))))
    return common


def short_output_schema(schema: Schema, never_null: AbstractSet[str]) -> Schema:
    """Shorten the schema of a tool's result to the names and types of its fields.

    Required fields are listed for the result itself, not for the objects in it.

    Args:
        schema: the schema as pydantic generates it.
        never_null: fields that a result omits instead of setting them to null.
    """
    required = schema.get("required", [])
    short = _without(schema, {"title", "description", "default", "required", "enum", "const"})
    short = _with_short_unions(_inlined(_without_null(short, never_null)))
    return {**short, "required": required}


def _without(schema: Any, keywords: AbstractSet[str]) -> Any:
    if isinstance(schema, dict):
        schema = {keyword: part for keyword, part in schema.items() if keyword not in keywords}
    return _rewritten(schema, partial(_without, keywords=keywords))


def _without_null(schema: Any, names: AbstractSet[str]) -> Any:
    match _rewritten(schema, partial(_without_null, names=names)):
        case {"properties": dict(properties)} as rewritten:
            return {
                **rewritten,
                "properties": {
                    name: _not_null(part) if name in names else part
                    for name, part in properties.items()
                },
            }
        case rewritten:
            return rewritten


def _with_few_options(schema: Any) -> Any:
    """Drop redundant options of unions: null where it is the default, integer beside number."""
    match _rewritten(schema, _with_few_options):
        case {"anyOf": list(options), **rest}:
            redundant = [_INTEGER_SCHEMA] if _NUMBER_SCHEMA in options else []
            if rest.get("default", ...) is None:
                redundant.append(_NULL_SCHEMA)
                del rest["default"]
            return {**rest, "anyOf": [option for option in options if option not in redundant]}
        case rewritten:
            return rewritten


def _not_null(schema: Any) -> Any:
    match schema:
        case {"anyOf": [other, {"type": "null"}]}:
            return other
    return schema


def _with_short_unions(schema: Any) -> Any:
    """Replace unions of types with lists of types, and drop schemas that allow any type."""
    match _rewritten(schema, _with_short_unions):
        case {"anyOf": list(options), **rest} if _can_be_merged(options):
            merged = {keyword: part for option in options for keyword, part in option.items()}
            return {**rest, **merged, "type": [option["type"] for option in options]}
        case {"additionalProperties": {"type": list()}, **rest}:
            return rest
        case rewritten:
            return rewritten


def _can_be_merged(options: list[Schema]) -> bool:
    return all("type" in option and option.keys() <= _SINGLE_TYPE_KEYWORDS for option in options)


def _inlined(schema: Schema) -> Schema:
    """Replace each reference to a definition by the definition; none refers to itself."""
    definitions = schema.get("$defs", {})

    def resolved(part: Any) -> Any:
        match part:
            case {"$ref": str(reference), **rest}:
                return {**resolved(definitions[reference.removeprefix(_REFERENCE)]), **rest}
        return _rewritten(part, resolved)

    short: Schema = resolved({word: part for word, part in schema.items() if word != "$defs"})
    return short


def _in_common_words(schema: Any) -> Any:
    """Replace words that some clients refuse: pydantic still checks what they say."""
    match _rewritten(schema, _in_common_words):
        case {"exclusiveMinimum": bound, **rest}:
            return {"minimum": bound, **rest}
        case {"anyOf": [only], **rest}:
            return {**only, **rest}
        case rewritten:
            return rewritten


def _rewritten(schema: Any, rewrite: Callable[[Any], Any]) -> Any:
    """Rewrite the schemas directly within a schema."""
    match schema:
        case dict():
            return {
                keyword: {name: rewrite(each) for name, each in part.items()}
                if keyword in _SCHEMA_MAPS
                else rewrite(part)
                for keyword, part in schema.items()
            }
        case list():
            return [rewrite(part) for part in schema]
    return schema
