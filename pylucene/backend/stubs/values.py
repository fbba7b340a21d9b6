"""Types of Python for Java's, as JCC converts arguments (`parseArgs` in functions.cpp) and results.

Java types are written as in the description: `int`, `java.lang.String`, `byte[]`, and `?` for a
type variable.
"""

from .names import Names

_TEXT = "builtins.str | builtins.bytes"
_NUMBER = "builtins.int | builtins.float"

_PRIMITIVE_ARGUMENTS = {
    "boolean": "builtins.bool",
    "byte": "builtins.bytes",
    "char": _TEXT,
    "double": "builtins.float",
    "float": "builtins.float",
    "int": "builtins.int",
    "long": "builtins.int",
    "short": "builtins.int",
}

# Values that JCC makes an object of such a class from.
_BOXED = {
    "java.lang.Boolean": "builtins.bool",
    "java.lang.Byte": _NUMBER,
    "java.lang.CharSequence": _TEXT,
    "java.lang.Character": _TEXT,
    "java.lang.Double": _NUMBER,
    "java.lang.Float": _NUMBER,
    "java.lang.Integer": _NUMBER,
    "java.lang.Long": _NUMBER,
    "java.lang.Number": _NUMBER,
    "java.lang.Object": f"{_TEXT} | {_NUMBER}",
    "java.lang.Short": _NUMBER,
    "java.lang.String": _TEXT,
}

_RESULTS = {
    "?": "typing.Any",
    "boolean": "builtins.bool",
    "byte": "builtins.int",
    "char": "builtins.str",
    "double": "builtins.float",
    "float": "builtins.float",
    "int": "builtins.int",
    "long": "builtins.int",
    "short": "builtins.int",
    "void": "None",
}

_ARRAYS = {
    "boolean": "lucene.JArray_bool",
    "byte": "lucene.JArray_byte",
    "char": "lucene.JArray_char",
    "double": "lucene.JArray_double",
    "float": "lucene.JArray_float",
    "int": "lucene.JArray_int",
    "java.lang.String": "lucene.JArray_string",
    "long": "lucene.JArray_long",
    "short": "lucene.JArray_short",
}

_ANY_ARRAY = "lucene.JArray_object[typing.Any]"


def element(java: str) -> str | None:
    """The type of an array's elements; None for another type."""
    return java[:-2] if java.endswith("[]") else None


def argument(names: Names, java: str) -> str:
    """The type of the values that are accepted for a parameter."""
    if elements := element(java):
        array = _ARRAYS.get(elements, _ANY_ARRAY)
        # Neither a sequence of characters nor one of bytes, and no sequence of arrays.
        if elements in ("byte", "char") or element(elements):
            return f"{array} | None"
        return f"{array} | collections.abc.Sequence[{argument(names, elements)}] | None"
    if java in _PRIMITIVE_ARGUMENTS:
        return _PRIMITIVE_ARGUMENTS[java]
    boxed = f" | {_BOXED[java]}" if java in _BOXED else ""
    return f"{names.full(java)}{boxed} | None"


def result(names: Names, java: str) -> str:
    """The type of a method's result, a property or a field.

    A Java object may be null. Few are, so as in typeshed it is Any beside its type: a comparison
    with None is allowed, but not required.
    """
    return _RESULTS.get(java) or f"{value(names, java)} | typing.Any"


def value(names: Names, java: str) -> str:
    """The type of a value that is there: a constant, or an element of an array."""
    if elements := element(java):
        if element(elements):
            return _ANY_ARRAY
        return _ARRAYS.get(elements) or f"lucene.JArray_object[{value(names, elements)}]"
    if java == "java.lang.String":
        return "builtins.str"
    return _RESULTS.get(java) or names.full(java)
