"""Run JCC, and describe the classes that it wraps; runs in the build environment.

Usage: wrap.py DESCRIPTION ARGUMENTS_OF_JCC…

DESCRIPTION is the JSON file to write: a list of classes as `backend.stubs` reads them. Types are
Java's names after erasure, with `[]` for each dimension of an array and `?` for a type variable.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jcc
from jcc import cpp, python

# Java's classes and members, as JCC's reflection returns them.
_Reflected = Any

_HOOKED = python.python
_Wrapped = list[tuple[_Reflected, dict[str, Any]]]


def main(description: str, *arguments: str) -> None:
    """Generate the wrapper, and write down which members of which classes it has."""
    wrapped: _Wrapped = []

    # JCC calls this function once for each class, with the members that it has decided to wrap.
    def python_and_record(*given: Any) -> None:
        wrapped.append((given[3], _described(*given[3:])))
        _HOOKED(*given)

    python.python = python_and_record
    cpp.jcc([jcc.__file__, *arguments])
    names = {cls.getName() for cls, _ in wrapped}
    for cls, entry in wrapped:
        entry["interfaces"] = sorted(set(_interfaces(cls, names)))
    entries = sorted((entry for _, entry in wrapped), key=lambda entry: str(entry["name"]))
    Path(description).write_text(json.dumps(entries, indent=1), encoding="utf-8")


def _described(
    cls: _Reflected,
    super_classes: list[_Reflected],
    _names: object,
    _super_names: object,
    constructors: list[_Reflected],
    methods: list[_Reflected],
    _protected: object,
    _method_names: object,
    fields: list[_Reflected],
    instance_fields: list[_Reflected],
    mapping: str | None,
    sequence: tuple[str, str] | None,
    _rename: object,
    _declares: object,
    typeset: set[_Reflected],
    *_rest: object,
) -> dict[str, Any]:
    return {
        "name": cls.getName(),
        "interface": cls.isInterface(),
        "base": super_classes[0].getName() if super_classes else None,
        "generic": bool(cpp.getTypeParameters(cls)),
        # Others are in the wrapper, too, but are not attributes of their outer class.
        "nested": sorted(
            inner.getName()
            for inner in cls.getDeclaredClasses()
            if inner in typeset and cpp.Modifier.isStatic(inner.getModifiers())
        ),
        # JCC wraps public constructors of an abstract class, but Java refuses to call them.
        "constructors": [
            _parameters(constructor)
            for constructor in constructors
            if not cpp.Modifier.isAbstract(cls.getModifiers())
        ],
        "methods": [_method(method) for method in methods],
        # A method of such a name hands arguments that do not fit to its super class.
        "inherited": sorted(
            {
                method.getName()
                for super_class in super_classes
                for method in super_class.getMethods()
            }
        ),
        "constants": [_field(field) for field in fields],
        "fields": [_field(field) for field in instance_fields],
        "mapping": mapping,
        "sequence": sequence,
    }


def _method(method: _Reflected) -> dict[str, Any]:
    generic = method.getGenericReturnType()
    returns = _type(method.getReturnType())
    return {
        "name": method.getName(),
        "static": cpp.Modifier.isStatic(method.getModifiers()),
        "parameters": _parameters(method),
        "returns": "?" if cpp.TypeVariable.instance_(generic) else returns,
        "items": _items(generic),
    }


def _items(generic: _Reflected) -> str | None:
    """The type argument of a result that has one, as an iterator does."""
    if not cpp.ParameterizedType.instance_(generic):
        return None
    argument, *_ = cpp.getActualTypeArguments(cpp.ParameterizedType.cast_(generic))
    return _type(cpp.Class.cast_(argument)) if cpp.Class.instance_(argument) else "?"


def _parameters(executable: _Reflected) -> list[str]:
    return [_type(parameter) for parameter in executable.getParameterTypes()]


def _field(field: _Reflected) -> dict[str, Any]:
    return {
        "name": field.getName(),
        "type": _type(field.getType()),
        "final": cpp.Modifier.isFinal(field.getModifiers()),
    }


def _type(cls: _Reflected) -> str:
    dimensions = ""
    while cls.isArray():
        cls = cls.getComponentType()
        dimensions += "[]"
    return f"{cls.getName()}{dimensions}"


def _interfaces(cls: _Reflected, names: set[str]) -> Iterator[str]:
    """The nearest interfaces of a class that are wrapped."""
    for interface in cls.getInterfaces():
        if interface.getName() in names:
            yield interface.getName()
        else:
            yield from _interfaces(interface, names)


if __name__ == "__main__":
    main(*sys.argv[1:])
