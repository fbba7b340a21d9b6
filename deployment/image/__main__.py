"""Build the container image from the wheels in a folder: `python -m deployment.image FOLDER`.

Root is needed, since the files in the image belong to it.
"""

import json
import os
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Final

from deployment.image import layout, root
from deployment.image.settings import CONFIG, HOME
from deployment.release import bill, sums

_PROJECT: Final = Path(__file__).parents[2] / "pyproject.toml"
_DESCRIBED: Final = Path(__file__).parents[1] / "server.json"


def main(folder: str) -> None:
    """Put the image beside the wheels in a folder, and list it in SHA256SUMS.

    Raises:
        SystemExit: there are no wheels, or a program that this needs is missing or fails.
    """
    dist = Path(folder).absolute()
    if not any(dist.glob("mcp_lucene-*.whl")):
        sys.exit(f"there are no wheels in {dist}; run: make wheels")
    if os.geteuid():
        sys.exit("only root can build the image; use deployment/Containerfile with podman instead")
    seconds = sums.seconds()
    annotations = _annotations()
    target = dist / f"mcp-lucene-{annotations['org.opencontainers.image.version']}.oci.tar"
    with tempfile.TemporaryDirectory() as made:
        system = Path(made, "root")
        root.debian(system)
        below = layout.pack(
            system,
            (path.name for path in system.iterdir()),
            Path(made, "below"),
            seconds,
            "mmdebstrap: Debian's essential packages and Python",
        )
        root.add_programs(system, dist, seconds)
        above = layout.pack(
            system,
            (HOME, "home/lucene", "index", "etc/passwd", "etc/group"),
            Path(made, "above"),
            seconds,
            "uv pip install pylucene pycld2 mcp-lucene",
        )
        layout.write(target, [below, above], CONFIG, annotations, seconds)
        parts = (
            *bill.of_debian(system),
            *bill.of_pylucene(),
            *bill.of_packages(system / root.SITE),
        )
        bill.write(target.with_suffix(".cdx.json"), bill.project(_PROJECT), parts, seconds)
    print(f"{target.name} has {target.stat().st_size / 1e6:.0f} MB")
    sums.write(dist)


def _annotations() -> dict[str, str]:
    project = tomllib.loads(_PROJECT.read_text("utf-8"))["project"]
    described = json.loads(_DESCRIBED.read_text("utf-8"))
    values = {
        "title": project["name"],
        "description": project["description"],
        "version": project["version"],
        "licenses": project["license"],
        "vendor": "the authors of mcp-lucene",
    }
    labels = {f"org.opencontainers.image.{name}": value for name, value in values.items()}
    # The MCP registry recognizes an image by it.
    return labels | {"io.modelcontextprotocol.server.name": described["name"]}


if __name__ == "__main__":
    main(*sys.argv[1:])
