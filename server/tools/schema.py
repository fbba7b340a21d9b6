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

Schema = dict[str, Any]


def short_input_schema(schema: Schema) -> Schema:
    """Shorten the schema of a tool's arguments; the description of each argument stays."""
    short = {
        **schema,
        "$defs": {
            name: _without(definition, {"description"})
            for name, definition in schema.get("$defs", {}).items()
        },
    }
    # No model needs the lengths, which pydantic checks.
    common: Schema = _in_common_words(
        _with_few_options(_inlined(_without(short, {"title", "minLength", "maxLength"})))
    )
    return common


def short_output_schema(schema: Schema, never_null: AbstractSet[str]) -> Schema:
    """Shorten the schema of a tool's result to the names and types of its fields.

    Objects within a result are documented in docs/tools.md; models see them in the results.
    `never_null` are fields that a result omits instead of setting them to null.
    """
    fields = {
        name: _type_of(part, with_null=name not in never_null)
        for name, part in schema["properties"].items()
    }
    return {"type": "object", "properties": fields}


def _type_of(schema: Schema, *, with_null: bool = True) -> Schema:
    """Return the type of a value, and of the items of a list."""
    match schema:
        case {"$ref": _}:
            return {"type": "object"}
        case {"anyOf": list(options)}:
            types = [_type_of(option) for option in options if with_null or option != _NULL_SCHEMA]
            if len(types) == 1:
                return types[0]
            merged = {keyword: part for each in types for keyword, part in each.items()}
            return merged | {"type": [each["type"] for each in types]}
        case {"type": "array", "items": items}:
            return {"type": "array", "items": _type_of(items)}
    return {"type": schema["type"]}


def _without(schema: Any, keywords: AbstractSet[str]) -> Any:
    if isinstance(schema, dict):
        schema = {keyword: part for keyword, part in schema.items() if keyword not in keywords}
    return _rewritten(schema, partial(_without, keywords=keywords))


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
        case {"default": [], **rest}:
            return rest
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
