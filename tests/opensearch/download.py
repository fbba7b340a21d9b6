"""Download jars into a local Maven repository; runs in the environment of `make opensearch`.

Usage: download.py REPOSITORY GROUP:NAME:VERSION…
"""

import sys
from pathlib import Path

from jgo.maven import MavenContext


def main(repository: str, *coordinates: str) -> None:
    """Download each jar, or exit with one sentence that names the one that failed."""
    context = MavenContext(repo_cache=Path(repository), local_repos=[], timeout=60)
    for name in coordinates:
        group, artifact, version = name.split(":")
        try:
            context.project(group, artifact).at_version(version).artifact().resolve()
        except (OSError, RuntimeError) as error:
            sys.exit(f"{name}: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
