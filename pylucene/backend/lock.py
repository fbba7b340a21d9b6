"""Refresh jgo.lock.toml after a change of jgo.toml: run `python -m backend.lock` in this folder."""

from pathlib import Path

from . import cache, environment, platforms
from .console import one_sentence, run
from .source import ROOT

_RESOLVE = Path(__file__).with_name("inside") / "resolve.py"


def main() -> None:
    """Resolve jgo.toml and everything it depends on, and write the lock file."""
    with one_sentence():
        platforms.require_tools()
        with cache.locked():
            run(
                (environment.ensure().python, "-I", _RESOLVE, cache.folder() / "maven", ROOT),
                "jgo.toml could not be resolved: jgo's words above say why",
            )


if __name__ == "__main__":
    main()
