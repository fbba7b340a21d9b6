"""The rules of docs/architecture.md, checked on the sources."""

import ast
import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

LAYERS = {
    "idx": (
        *("__main__", "app", "commands", "doctor", "evaluation", "clients", "embedding", "cli"),
        *("configuration", "output", "sync", "extraction", "crawl", "errors"),
    ),
    "server": (
        *("__main__", "app", "options", "http", "pages", "api", "search_server", "completion"),
        *("resources", "prompts", "tools", "pictures", "runtime", "rendering"),
        *("administration", "answers", "pipes"),
        "settings",
    ),
    "shared": (
        *(
            "opensearch",
            "resemblance",
            "maintenance",
            "answers",
            "reading",
            "search",
            "rewriting",
            "query",
            "writing",
        ),
        *("storage", "chunking", "analysis", "semantic", "model", "java", "language_models"),
        "ocr",
        "settings",
        *(
            "backends",
            "files",
            "remedies",
            "errors",
            "messages",
            "control_characters",
            "document_tags",
        ),
        *("installation", "version", "workers", "system"),
    ),
}
"""The modules and folders of each package: one may import those after it only."""
MOST_ENTRIES = 12
CATALOGUES = {"idx", "server", "shared", "idx.commands"}
"""Folders that may have more entries: packages, and one module for each command."""
JAVA = {"lucene", "java", "org"}
FORBIDDEN = {
    "shared": {"idx", "server", "typer", "rich", "mcp"},
    "idx": {"server", "mcp"} | JAVA,
    "server": {"idx", "rich"} | JAVA,
}
ALLOWED = {("idx.doctor.server", "mcp")}
"""The module that asks the server as a client does."""


class Sources:
    """The modules of the packages in a folder, by name."""

    def __init__(self, root: Path) -> None:
        self.files: dict[str, Path] = {}
        for file in sorted(file for package in LAYERS for file in (root / package).rglob("*.py")):
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


def docstrings(sources: Sources) -> Iterator[str]:
    for module, tree in sources.trees.items():
        if not ast.get_docstring(tree):
            yield f"{module} has no docstring"


def layer(module: str) -> str:
    """The part of a module's name that has a place in the layers; "" for a package."""
    return module.partition(".")[2].partition(".")[0]


def complete_layers(sources: Sources) -> Iterator[str]:
    for package, layers in LAYERS.items():
        there = {layer(module) for module in sources.files if module.startswith(f"{package}.")}
        yield from (f"{package}.{name} is in no layer" for name in there.difference(layers))
        yield from (f"{package}.{name} does not exist" for name in set(layers) - there)


def only_layers_below(sources: Sources) -> Iterator[str]:
    for module, imported in sources.imports.items():
        package = module.split(".")[0]
        layers = LAYERS[package]
        above = layers[: layers.index(layer(module))] if layer(module) in layers else ()
        for other in imported:
            if other.startswith(f"{package}.") and layer(other) in above:
                yield f"{module} imports {other}"


def no_circles(sources: Sources) -> Iterator[str]:
    try:
        TopologicalSorter(sources.imports).prepare()
    except CycleError as error:
        yield " imports ".join(reversed(error.args[1]))


def few_entries(sources: Sources) -> Iterator[str]:
    for folder in {module for module, file in sources.files.items() if file.stem == "__init__"}:
        entries = [module for module in sources.files if module.rpartition(".")[0] == folder]
        if len(entries) > MOST_ENTRIES and folder not in CATALOGUES:
            yield f"{folder} has {len(entries)} entries"


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
    (docstrings, {"server/a.py": "x = 1"}, "server.a has no docstring"),
    (complete_layers, {"idx/new/a.py": ""}, "idx.new is in no layer"),
    (complete_layers, {"idx/app.py": ""}, "idx.cli does not exist"),
    (
        only_layers_below,
        {"shared/storage/a.py": "from shared.search import b", "shared/search/b.py": ""},
        "shared.storage.a imports shared.search.b",
    ),
    (
        no_circles,
        {
            "idx/cli/a.py": "if TYPE_CHECKING: from idx.cli.b import B",
            "idx/cli/b.py": "import idx.cli.a",
        },
        "idx.cli.a imports idx.cli.b imports idx.cli.a",
    ),
    (
        few_entries,
        {f"idx/sync/{name}.py": "" for name in ("__init__", *"abcdefghijklm")},
        "idx.sync has 13 entries",
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
    assert len(PROJECT.files) > 300
    assert "org.apache.lucene.index" in {
        name for name, _ in PROJECT.names["shared.storage.commits"]
    }


def test_importing_the_packages_starts_nothing() -> None:
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
