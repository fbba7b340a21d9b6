"""The rules of docs/architecture.md, checked on the sources."""

import ast
import importlib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
JAVA = {"lucene", "java", "org"}
ASKS_THE_SERVER = ROOT / "idx" / "doctor" / "server.py"
LAYERS = {
    "idx": (
        *("__main__", "app", "commands", "doctor", "evaluation", "clients", "cli"),
        *("configuration", "output", "sync", "extraction", "crawl", "errors"),
    ),
    "server": (
        *("__main__", "app", "options", "http", "search_server", "completion"),
        *("resources", "prompts", "tools", "runtime", "administration", "answers", "pipes"),
        "settings",
    ),
    "shared": (
        *("maintenance", "reading", "search", "rewriting", "query", "writing", "storage"),
        *("analysis", "model", "java", "settings", "files", "remedies", "errors", "messages"),
        *("control_characters", "version"),
    ),
}
"""The modules and folders of each package: one may import those after it only."""
MOST_ENTRIES = 12
CATALOGUES = {ROOT / "idx", ROOT / "server", ROOT / "shared", ROOT / "idx" / "commands"}
"""Folders that may have more entries: packages, and one module for each command."""
MODULES = sorted(file for package in LAYERS for file in (ROOT / package).rglob("*.py"))


def name_of(file: Path) -> str:
    """The dotted name of a module."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(file): file for file in MODULES}


def imported_modules(file: Path) -> set[str]:
    """The modules of this project that a module imports, anywhere in it and for types, too."""
    found = set()
    for module, name in imported_names(file):
        full = f"{module}.{name}"
        found.add(full if full in NAMES else module)
    return (found & NAMES.keys()) - {name_of(file)}


def imported_names(file: Path) -> Iterator[tuple[str, str | None]]:
    """Each imported module with the name taken from it, None for the module itself."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_package_imports_only_what_it_may(file: Path) -> None:
    package = file.relative_to(ROOT).parts[0]
    forbidden = {
        "shared": {"idx", "server", "typer", "rich", "mcp"},
        "idx": {"server", "mcp"} | JAVA,
        "server": {"idx", "rich"} | JAVA,
    }[package]
    if file == ASKS_THE_SERVER:
        forbidden -= {"mcp"}
    assert {module.split(".")[0] for module, _ in imported_names(file)}.isdisjoint(forbidden)


@pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_module_says_what_it_is(file: Path) -> None:
    assert ast.get_docstring(ast.parse(file.read_text()))


def layer(module: str) -> tuple[str, int] | None:
    """The package of a module and its place in it, from the top; None for a package itself."""
    package, _, rest = module.partition(".")
    return (package, LAYERS[package].index(rest.partition(".")[0])) if rest else None


@pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_module_imports_only_from_its_own_layer_and_those_below(file: Path) -> None:
    own = layer(name_of(file))
    above = {
        module
        for module in imported_modules(file)
        if own and (other := layer(module)) and other[0] == own[0] and other[1] < own[1]
    }
    assert above == set()


def test_no_modules_import_each_other_in_a_circle() -> None:
    # The sorter raises an error that names the modules of a circle.
    order = TopologicalSorter({name: imported_modules(file) for name, file in NAMES.items()})
    assert len([*order.static_order()]) == len(NAMES)


@pytest.mark.parametrize(
    "folder",
    sorted({file.parent for file in MODULES} - CATALOGUES),
    ids=lambda folder: str(folder.relative_to(ROOT)),
)
def test_a_folder_has_few_entries(folder: Path) -> None:
    entries = [
        entry
        for entry in folder.iterdir()
        if entry.suffix == ".py" or (entry.is_dir() and (entry / "__init__.py").is_file())
    ]
    assert len(entries) - 1 <= MOST_ENTRIES


def test_every_java_name_that_the_project_uses_is_wrapped() -> None:
    names = {
        (module, name)
        for file in MODULES
        for module, name in imported_names(file)
        if module.split(".")[0] in JAVA - {"lucene"} and name
    }
    assert len(names) > 50
    importlib.import_module("lucene")
    missing = [
        f"{module}.{name}"
        for module, name in sorted(names)
        if not hasattr(importlib.import_module(module), name)
    ]
    assert missing == []


def test_importing_the_packages_starts_nothing() -> None:
    import subprocess
    import sys

    script = (
        "import sys, idx, server, shared\n"
        "from shared import Document, Filter, McpLuceneError\n"
        "assert not {'lucene', 'mcp', 'typer'} & sys.modules.keys(), sorted(sys.modules)\n"
        "from shared import Index, Searcher, create\n"
        "import lucene; assert lucene.getVMEnv() is None"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_public_names_exist() -> None:
    shared = importlib.import_module("shared")
    assert len(shared.__all__) > 50
    assert all(getattr(shared, name) for name in shared.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = shared.Nothing
