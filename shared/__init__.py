"""Shared code of mcp-lucene's programs, and the Python API.

    from pathlib import Path
    from shared import Document, Index, Searcher

    with Index(Path("lucene-index"), create=True) as index:
        index.add(Document("lease", "Lease", "The rent is due on the third of each month."))
    with Searcher(Path("lucene-index")) as searcher:
        print(searcher.search("rent").results[0].content)

Importing this package starts nothing: a name is loaded on first use, and the Java virtual machine
starts when an index is first opened.
"""

from functools import cache
from importlib import import_module
from pathlib import Path


def __getattr__(name: str) -> object:
    """Load the module of a public name on first use of the name (PEP 562)."""
    modules = _modules()
    if name == "__all__":
        return [*modules]
    if name not in modules:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(modules[name]), name)


@cache
def _modules() -> dict[str, str]:
    """Return the module of each public name, as imported in the stub next to this file."""
    import ast

    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8"))
    return {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
