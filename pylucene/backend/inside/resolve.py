"""Write jgo.lock.toml from jgo.toml; runs in the build environment.

Usage: resolve.py REPOSITORY FOLDER
"""

import sys
import tempfile
from pathlib import Path

from jgo.env import EnvironmentBuilder, EnvironmentSpec
from jgo.maven import MavenContext


def main(repository: str, folder: str) -> None:
    """Resolve what FOLDER's jgo.toml names, dependencies included, and hash every jar."""
    context = MavenContext(repo_cache=Path(repository), local_repos=[], timeout=60)
    with tempfile.TemporaryDirectory() as cache:
        builder = EnvironmentBuilder(context, cache_dir=Path(cache))
        lock = builder.resolve_lockfile(EnvironmentSpec.load(Path(folder, "jgo.toml")))
    lock.save(Path(folder, "jgo.lock.toml"))


main(*sys.argv[1:])
