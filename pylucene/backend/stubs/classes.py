"""The stub of a class: the members that JCC's `python.py` generates for it, in the same way."""

import keyword
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from .names import Class, Names
from .values import argument, element, result, value

_PROPERTY_PREFIXES = {"get": 0, "is": 0, "set": 1}


_OF_ALL_CLASSES = {
    "class_": ["class_: typing.ClassVar[java.lang.Class]"],
    "wrapfn_": ["wrapfn_: typing.ClassVar[typing.Any]"],
    "boxfn_": ["boxfn_: typing.ClassVar[typing.Any]"],
    "cast_": [
        "@builtins.classmethod",
        "def cast_(cls, instance: java.lang.Object, /) -> typing.Self: ...",
    ],
    "instance_": [
        "@builtins.classmethod",
        "def instance_(cls, instance: java.lang.Object, /) -> builtins.bool: ...",
    ],
}

_OF_GENERIC_CLASSES = {
    "of_": ["def of_(self, *parameters: builtins.type[lucene.JObject] | None) -> typing.Self: ..."],
    "parameters_": [
        "@builtins.property",
        "def parameters_(self) -> builtins.tuple[typing.Any, ...]: ...",
    ],
}


@dataclass(frozen=True)
class _Group:
    """The overloads of a method: the parameters and the result of each."""

    static: bool
    overloads: tuple[tuple[str, str], ...]


def render(names: Names, name: str) -> Iterator[str]:
    """The lines of a class."""
    simple = names.simple(name)
    if simple.startswith("_"):
        yield "@typing.type_check_only"
    yield f"class {simple}({', '.join(names.bases(name))}):"
    for line in _body(names, names.classes[name]):
        yield f"    {line}"


def _body(names: Names, cls: Class) -> Iterator[str]:
    # Type checkers read a class body in its order, so that a base must precede what extends it.
    for nested in sorted(cls["nested"], key=lambda name: len(names.ancestors(name))):
        yield from render(names, nested)
    yield from _constructor(names, cls)
    members = _members(names, cls) | _hidden(names, cls)
    for name, lines in sorted(members.items()):
        # Members such as `or` and `access$0` can be reached by getattr only.
        if name.isidentifier() and not keyword.iskeyword(name):
            yield from lines


def _members(names: Names, cls: Class) -> dict[str, list[str]]:
    """The lines of each member; of two with one name, the one that the wrapper has."""
    members = dict(_operators(names, cls))
    if cls["name"] == "java.lang.Object":
        members |= _OF_ALL_CLASSES
    if cls["generic"]:
        members |= _OF_GENERIC_CLASSES
    members |= _properties(names, cls)
    for field in cls["fields"]:
        members.setdefault(field["name"], list(_field(names, field)))
    for name in _method_names(cls):
        members[name] = list(_method(name, _group(names, cls, name)))
    methods = {method["name"] for method in cls["methods"]}
    for constant in cls["constants"]:
        name = constant["name"] + ("__" if constant["name"] in methods else "")
        members[name] = [f"{name}: typing.Final[{value(names, constant['type'])}]"]
    return members


def _hidden(names: Names, cls: Class) -> dict[str, list[str]]:
    """The members of interfaces that JCC does not wrap for a class, which must not be inherited.

    In the wrapper a class has one base. It has a method of an interface if the class or one of its
    super classes declares it; another one needs `cast_` to the interface.
    """
    present = _names(names, cls["name"])
    base = cls["base"]
    while base:
        present |= _names(names, base)
        base = names.classes[base]["base"]
    inherited = frozenset[str]().union(
        *(_names(names, ancestor) for ancestor in names.ancestors(cls["name"]))
    )
    return {name: [f"{name}: typing.ClassVar[None]"] for name in inherited - present}


@cache
def _names(names: Names, name: str) -> frozenset[str]:
    cls = names.classes[name]
    return frozenset(_members(names, cls)).union(names.simple(nested) for nested in cls["nested"])


def _field(names: Names, field: Class) -> Iterator[str]:
    accepted = [] if field["final"] else [argument(names, field["type"])]
    return _property(field["name"], result(names, field["type"]), accepted)


def _property(name: str, returned: str, accepted: Sequence[str]) -> Iterator[str]:
    yield "@builtins.property"
    yield f"def {name}(self) -> {returned}: ..."
    if accepted:
        yield f"@{name}.setter"
        yield f"def {name}(self, value: {' | '.join(dict.fromkeys(accepted))}, /) -> None: ..."


def _properties(names: Names, cls: Class) -> Iterator[tuple[str, list[str]]]:
    """The properties that JCC makes of getX, isX and setX, unless a method has their name."""
    getters: dict[str, str] = {}
    setters: dict[str, list[str]] = {}
    for method in sorted(cls["methods"], key=lambda method: str(method["name"])):
        name, parameters = method["name"], method["parameters"]
        for prefix, arity in _PROPERTY_PREFIXES.items():
            if name.startswith(prefix) and name != prefix and len(parameters) == arity:
                start = len(prefix)
                bare = name[start].lower() + name[start + 1 :]
                if arity:
                    setters.setdefault(bare, []).append(argument(names, parameters[0]))
                elif method["returns"] != "void":
                    getters.setdefault(bare, result(names, method["returns"]))
    for name in sorted({*getters, *setters} - set(_method_names(cls))):
        yield name, list(_property(name, getters.get(name, "typing.Never"), setters.get(name, ())))


def _method_names(cls: Class) -> dict[str, list[Class]]:
    """The methods of a class by the name that they have in Python.

    A static method is renamed if there is another one of its name that is not.
    """
    groups: dict[str, list[Class]] = {}
    dynamic = {method["name"] for method in cls["methods"] if not method["static"]}
    for method in cls["methods"]:
        renamed = method["static"] and method["name"] in dynamic
        groups.setdefault(method["name"] + ("_" if renamed else ""), []).append(method)
    return groups


def _group(names: Names, cls: Class, name: str) -> _Group:
    """The overloads of a method, and those of the super class, which get what does not fit."""
    methods = _method_names(cls)[name]
    single = len(methods) == 1
    inherited = name in cls["inherited"]
    # One argument that need not be tried elsewhere is not passed in a tuple.
    counted = single and (inherited or len(methods[0]["parameters"]) != 1)
    overloads = [
        (parameters, result(names, method["returns"]))
        for method in methods
        for parameters in _parameters(names, method["parameters"], repeated=counted)
    ]
    base = cls["base"]
    while inherited and base:
        above = names.classes[base]
        if name in _method_names(above):
            group = _group(names, above, name)
            # A static method calls one that is not as a function: with the object as an argument.
            instance = methods[0]["static"] and not group.static
            receiver = [f"instance: {names.full(base)}"] if instance else []
            overloads += [
                (", ".join([*receiver, *filter(None, [parameters])]), returned)
                for parameters, returned in group.overloads
            ]
            break
        base = above["base"]
    # The first of the overloads with the same parameters is the one of the lowest class.
    first: dict[str, str] = {}
    for parameters, returned in overloads:
        first.setdefault(parameters, returned)
    return _Group(methods[0]["static"], tuple(first.items()))


def _constructor(names: Names, cls: Class) -> Iterator[str]:
    constructors = cls["constructors"]
    overloads = tuple(
        (parameters, "None")
        for types in constructors
        for parameters in _parameters(names, types, repeated=len(constructors) == 1)
    )
    if overloads:
        yield from _method("__init__", _Group(static=False, overloads=overloads))
    else:
        yield "def __init__(self, no_public_constructor: typing.Never, /) -> None: ..."


def _parameters(names: Names, types: Sequence[str], *, repeated: bool) -> Iterator[str]:
    """The parameters of a method, twice if the last is an array whose elements may be arguments.

    `repeated` says that they may be any number of arguments, otherwise just one.
    """
    accepted = [argument(names, java) for java in types]
    elements = element(types[-1]) if types else None
    if elements and not element(elements) and not repeated:
        accepted[-1] += f" | {argument(names, elements)}"
    texts = [f"a{number}: {text}" for number, text in enumerate(accepted)]
    yield _joined(texts)
    if elements and not element(elements) and repeated:
        yield _joined(texts[:-1], f"*a{len(texts) - 1}: {argument(names, elements)}")


def _joined(positional: Sequence[str], *rest: str) -> str:
    return ", ".join([*positional, *(["/"] if positional else []), *rest])


def _method(name: str, group: _Group) -> Iterator[str]:
    for parameters, returned in group.overloads:
        if len(group.overloads) > 1:
            yield "@typing.overload"
        if group.static:
            yield "@builtins.classmethod"
        first = "cls" if group.static else "self"
        yield f"def {name}({', '.join(filter(None, (first, parameters)))}) -> {returned}: ..."


def _operators(names: Names, cls: Class) -> Iterator[tuple[str, list[str]]]:
    """Iteration, `object[index]` and `len`, as JCC gives them to a class."""
    methods = {method["name"]: method for method in cls["methods"] if not method["parameters"]}
    ancestors = names.ancestors(cls["name"]) | {cls["name"]}
    steps = methods.get("next")
    if "java.util.Enumeration" in ancestors:
        steps = steps or methods.get("nextElement")
    if "iterator" in methods and "java.lang.Iterable" in ancestors:
        items = _items(cls, methods["iterator"])
        yield "__iter__", [f"def __iter__(self) -> collections.abc.Iterator[{items}]: ..."]
    elif steps and steps["returns"] not in ("void", "boolean", "int", "long"):
        yield "__iter__", ["def __iter__(self) -> typing.Self: ..."]
        returned = value(names, steps["returns"])
        yield "__next__", [f"def __next__(self) -> {returned}: ..."]
    if cls["mapping"]:
        yield "__getitem__", list(_item(names, cls, cls["mapping"], "__getitem__"))
    if cls["sequence"]:
        for signature, operator in zip(cls["sequence"], ("__len__", "__getitem__"), strict=True):
            yield operator, list(_item(names, cls, signature, operator))


def _items(cls: Class, iterator: Class) -> str:
    """The type of the objects that iteration over an object of a class returns.

    They are known only to a class with type parameters, and `of_` sets those; a text is recognized.
    """
    if cls["generic"]:
        return "typing.Any"
    return "builtins.str" if iterator["items"] == "java.lang.String" else "java.lang.Object"


def _item(names: Names, cls: Class, signature: str, operator: str) -> Iterator[str]:
    name, _, types = signature.partition(":")
    arity = 0 if types.startswith("()") else 1
    for method in cls["methods"]:
        if method["name"] == name and len(method["parameters"]) == arity:
            (parameters,) = _parameters(names, method["parameters"], repeated=False)
            overload = (parameters, result(names, method["returns"]))
            yield from _method(operator, _Group(static=False, overloads=(overload,)))
            return
