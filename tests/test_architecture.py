"""The rules of docs/architecture.md, checked on the sources."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
JAVA = {"lucene", "java", "org"}
ASKS_THE_SERVER = ROOT / "idx" / "doctor" / "server.py"
MODULES = sorted(
    file for package in ("idx", "server", "shared") for file in (ROOT / package).rglob("*.py")
)


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
