"""Download jars into a local Maven repository; runs in the build environment.

Usage: download.py REPOSITORY GROUP:NAME:VERSION[:CLASSIFIER]…
"""

import sys
from pathlib import Path

from jgo.maven import MavenContext


def main(repository: str, *coordinates: str) -> None:
    """Download each artifact, or exit with one sentence that names the one that failed."""
    context = MavenContext(repo_cache=Path(repository), local_repos=[], timeout=60)
    for name in coordinates:
        group, artifact, version, *classifier = name.split(":")
        try:
            context.project(group, artifact).at_version(version).artifact(*classifier).resolve()
        except (OSError, RuntimeError) as error:
            sys.exit(f"{name}: {error}")


main(*sys.argv[1:])
