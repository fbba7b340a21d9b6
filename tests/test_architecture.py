"""The rules of docs/architecture.md, checked on the sources."""

import ast
import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from inspect import isclass, isfunction
from pathlib import Path

import pytest

PACKAGES = ("idx", "server", "shared")
JAVA = {"lucene", "java", "org"}
FORBIDDEN = {
    "shared": {"idx", "server", "typer", "rich", "mcp"},
    "idx": {"server", "mcp"} | JAVA,
    "server": {"idx", "rich"} | JAVA,
}
ALLOWED = {("idx.commands.doctor", "mcp")}
"""The module that asks the server as a client does."""


class Sources:
    """The modules of the packages in a folder, by name."""

    def __init__(self, root: Path) -> None:
        self.files: dict[str, Path] = {}
        for file in sorted(file for package in PACKAGES for file in (root / package).rglob("*.py")):
            parts = file.relative_to(root).with_suffix("").parts
            self.files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        return {module: ast.parse(file.read_text()) for module, file in self.files.items()}

    @cached_property
    def names(self) -> dict[str, set[tuple[str, str | None]]]:
        """The imports of each module: modules with the name taken from them, or None."""
        return {module: set(imported_names(tree)) for module, tree in self.trees.items()}

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """The modules here that each one imports, anywhere in it and for types, too."""
        found = {}
        for module, names in self.names.items():
            full = {(f"{other}.{name}", other) for other, name in names}
            imported = {long if long in self.files else short for long, short in full}
            found[module] = (imported & self.files.keys()) - {module}
        return found


def imported_names(tree: ast.Module) -> Iterator[tuple[str, str | None]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


def only_allowed_packages(sources: Sources) -> Iterator[str]:
    for module, names in sources.names.items():
        forbidden = FORBIDDEN[module.split(".")[0]]
        for package in {other.split(".")[0] for other, _ in names} & forbidden:
            if (module, package) not in ALLOWED:
                yield f"{module} imports {package}"


def no_circles(sources: Sources) -> Iterator[str]:
    try:
        TopologicalSorter(sources.imports).prepare()
    except CycleError as error:
        yield " imports ".join(reversed(error.args[1]))


def wrapped_java_names(sources: Sources) -> Iterator[str]:
    importlib.import_module("lucene")
    for module, name in set().union(*sources.names.values()):
        is_of_java = module.split(".")[0] in {"java", "org"}
        if is_of_java and name and not hasattr(importlib.import_module(module), name):
            yield f"{module}.{name} is not wrapped"


Rule = Callable[[Sources], Iterator[str]]

BROKEN: list[tuple[Rule, dict[str, str], str]] = [
    (only_allowed_packages, {"shared/a.py": "import idx.app"}, "shared.a imports idx"),
    (only_allowed_packages, {"idx/a.py": "def f(): import org"}, "idx.a imports org"),
    (
        no_circles,
        {
            "idx/cli/a.py": "if TYPE_CHECKING: from idx.cli.b import B",
            "idx/cli/b.py": "import idx.cli.a",
        },
        "idx.cli.a imports idx.cli.b imports idx.cli.a",
    ),
    (
        wrapped_java_names,
        {"shared/a.py": "from org.apache.lucene.search import Nothing"},
        "org.apache.lucene.search.Nothing is not wrapped",
    ),
]
"""For each rule files that break it, and the complaint."""

PROJECT = Sources(Path(__file__).parents[1])


@pytest.mark.parametrize("rule", dict.fromkeys(rule for rule, *_ in BROKEN))
def test_the_sources_keep_each_rule(rule: Rule) -> None:
    assert list(rule(PROJECT)) == []


@pytest.mark.parametrize(("rule", "files", "complaint"), BROKEN)
def test_whatever_breaks_a_rule_is_named(
    tmp_path: Path, rule: Rule, files: dict[str, str], complaint: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert complaint in list(rule(Sources(tmp_path)))


def test_the_rules_look_at_all_modules_and_at_java() -> None:
    assert len(PROJECT.files) > 250
    assert "org.apache.lucene.index" in {
        name for name, _ in PROJECT.names["shared.storage.commits"]
    }


def test_importing_the_packages_starts_nothing() -> None:
    script = (
        "import os, sys; before = dict(os.environ)\n"
        "import idx, server, shared\n"
        "from shared import Document, Filter, McpLuceneError\n"
        "assert not {'lucene', 'mcp', 'typer'} & sys.modules.keys(), sorted(sys.modules)\n"
        "from shared import Index, Searcher, create\n"
        "import lucene; assert lucene.getVMEnv() is None\n"
        "assert dict(os.environ) == before"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_public_names_exist_and_say_what_they_are() -> None:
    shared = importlib.import_module("shared")
    assert len(shared.__all__) > 50
    public = {name: getattr(shared, name) for name in shared.__all__}
    # The others are aliases of types, which have no docstrings.
    documented = {name: of for name, of in public.items() if isfunction(of) or isclass(of)}
    assert len(documented) > 50
    assert [name for name, of in documented.items() if not own_docstring(of)] == []
    methods = {
        f"{name}.{method.__name__}": method
        for name, of in documented.items()
        if isclass(of)
        for method in vars(of).values()
        if isfunction(method) and not method.__name__.startswith("_")
    }
    assert "Index.add" in methods
    assert [name for name, method in methods.items() if not method.__doc__] == []
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = shared.Nothing


def own_docstring(of: object) -> str | None:
    """The docstring of a function or class, unless Python has made it of a dataclass's fields."""
    text = of.__doc__
    return None if text and text.startswith(f"{getattr(of, '__name__', '')}(") else text
