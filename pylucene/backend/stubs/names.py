"""Python names of the wrapped Java classes, and the order of their bases."""

import keyword
from collections.abc import Iterable
from typing import Any

_OBJECT = "java.lang.Object"

Class = dict[str, Any]
"""The description of a class, as `inside/wrap.py` writes it."""


class Names:
    """All wrapped classes, by their Java names."""

    def __init__(self, classes: Iterable[Class]) -> None:
        # A package such as org.apache.lucene.analysis.in cannot be imported by a statement.
        self.classes = {
            str(cls["name"]): cls
            for cls in classes
            if not any(map(keyword.iskeyword, cls["name"].split(".")))
        }
        self._ancestors: dict[str, frozenset[str]] = {}

    def outer(self, name: str) -> str | None:
        """The class that has this class as an attribute; None if it is one of a module."""
        outer = name.rpartition("$")[0]
        return outer if name in self.classes.get(outer, {}).get("nested", ()) else None

    def simple(self, name: str) -> str:
        """The name of a class in its module or outer class.

        A nested class that is not an attribute of its outer class is in the module by a name with
        a `$`, so it gets a private one.
        """
        if self.outer(name):
            return name.rpartition("$")[2]
        simple = name.rpartition(".")[2]
        return "_" + simple.replace("$", "_") if "$" in simple else simple

    def full(self, name: str) -> str:
        """The name of a class with its module; Any for a class that is not wrapped."""
        if name not in self.classes:
            return "typing.Any"
        outer = self.outer(name)
        scope = self.full(outer) if outer else name.rpartition(".")[0]
        return f"{scope}.{self.simple(name)}"

    def ancestors(self, name: str) -> frozenset[str]:
        """All super classes and interfaces of a class."""
        if name not in self._ancestors:
            above = self._above(name)
            self._ancestors[name] = above.union(*(self.ancestors(other) for other in above))
        return self._ancestors[name]

    def bases(self, name: str) -> list[str]:
        """The bases of a class in its stub: the super class, then the interfaces.

        Interfaces are bases so that a class is accepted where one of them is expected. They have
        the same order in all classes, so that all have an order of resolution.
        """
        above = self._above(name)
        inherited = frozenset[str]().union(*(self.ancestors(other) for other in above))
        nearest = sorted(above - inherited, key=self._rank)
        return [self.full(other) for other in nearest] or ["lucene.JObject"]

    def _above(self, name: str) -> frozenset[str]:
        cls = self.classes[name]
        return frozenset(cls["interfaces"]) | ({cls["base"]} if cls["base"] else set())

    def _rank(self, name: str) -> tuple[bool, int, str]:
        return self.classes[name]["interface"], -len(self.ancestors(name)), name
