"""The container image, unpacked and run with a read-only root as a user without rights."""

import asyncio
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from deployment.image import layout
from deployment.image.settings import CONFIG, USER

ROOT = Path(__file__).parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
IMAGE = ROOT / "dist" / f"mcp-lucene-{VERSION}.oci.tar"

SCRATCH = "/tmp"  # noqa: S108 - of the container
LABELS = {"org.opencontainers.image.version": "1"}


def test_an_archive_is_an_oci_layout_whose_hashes_are_right(tmp_path: Path) -> None:
    def image(name: str) -> Path:
        root = tmp_path / name
        (root / "usr" / "bin").mkdir(parents=True)
        (root / "usr" / "bin" / "run").write_text("#!/bin/sh\n")
        (root / "bin").symlink_to("usr/bin")
        layer = layout.pack(root, ["bin", "usr"], tmp_path / f"{name}.layer", 1_000, "a test")
        layout.write(tmp_path / f"{name}.tar", [layer], CONFIG, LABELS, 1_000)
        return tmp_path / f"{name}.tar"

    assert image("one").read_bytes() == image("two").read_bytes()
    files = contents(tmp_path / "one.tar")
    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    config, manifest = described(files)
    assert config["config"]["User"] == "10001:10001"
    assert config["config"]["Labels"] == manifest["annotations"] == LABELS
    assert len(config["rootfs"]["diff_ids"]) == len(manifest["layers"]) == len(config["history"])
    with tarfile.open(fileobj=io.BytesIO(blob(files, manifest["layers"][0]))) as layer:
        assert layer.getnames() == ["bin", "usr", "usr/bin", "usr/bin/run"]
    skopeo = shutil.which("skopeo")
    if skopeo:
        subprocess.run([skopeo, "inspect", f"oci-archive:{tmp_path / 'one.tar'}"], check=True)


def contents(archive: Path) -> dict[str, bytes]:
    """The files of an archive by name; each blob has the hash that it is named for."""
    with tarfile.open(archive) as packed:
        files = {entry.name: packed.extractfile(entry).read() for entry in packed}  # type: ignore[union-attr]  # all are files
    for name, content in files.items():
        if name.startswith("blobs/"):
            assert hashlib.sha256(content).hexdigest() == name.rpartition("/")[2]
    return files


def described(files: dict[str, bytes]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The configuration and the manifest of the one image."""
    (reference,) = json.loads(files["index.json"])["manifests"]
    manifest = json.loads(blob(files, reference))
    return json.loads(blob(files, manifest["config"])), manifest


def blob(files: dict[str, bytes], reference: dict[str, Any]) -> bytes:
    content = files[f"blobs/{reference['digest'].replace(':', '/')}"]
    assert len(content) == reference["size"]
    return content


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_both_programs_run_in_the_image_with_nothing_but_the_index_to_write_to(
    open_folder: Path,
) -> None:
    bwrap = shutil.which("bwrap")
    if bwrap is None or os.geteuid():
        pytest.skip("bwrap or the rights of root are missing; on Debian: apt install bubblewrap")
    if not IMAGE.exists():
        pytest.skip(f"{IMAGE.name} is not in dist; on Debian, root makes it with: make image")
    files = contents(IMAGE)
    config, manifest = described(files)
    root, index = open_folder / "root", open_folder / "index"
    for layer in manifest["layers"]:
        packed = open_folder / "layer"
        packed.write_bytes(blob(files, layer))
        with tarfile.open(packed) as archive:
            # Of this project, with owners and modes.
            archive.extractall(root, filter="fully_trusted", numeric_owner=True)  # noqa: S202
    index.mkdir(mode=0o700)
    os.chown(index, USER, USER)
    documents = open_folder / "documents"
    documents.mkdir()
    (documents / "lease.txt").write_text("The notice period is three months.")

    user, group = config["config"]["User"].split(":")
    variables = [part for pair in config["config"]["Env"] for part in pair.split("=", 1)]
    settings = [
        part
        for name, value in zip(variables[::2], variables[1::2], strict=True)
        for part in ("--setenv", name, value)
    ]

    def container(mount: str, *command: str) -> list[str]:
        return [
            *("setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups"),
            *(bwrap, "--ro-bind", str(root), "/", "--proc", "/proc", "--dev", "/dev"),
            *("--tmpfs", SCRATCH, "--ro-bind", str(documents), "/mnt"),
            *(mount, str(index), "/index", "--unshare-all", "--die-with-parent", "--clearenv"),
            *(*settings, "--chdir", config["config"]["WorkingDir"], *command),
        ]

    def idx(*arguments: str) -> str:
        done = subprocess.run(
            container("--bind", "idx", *arguments), check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    idx("init")
    idx("add", "/mnt/lease.txt")
    assert "three months" in idx("search", "notice")
    kept = subprocess.run(
        container("--bind", "touch", "/opt/mcp-lucene/new"), check=False, capture_output=True
    )
    assert b"Read-only file system" in kept.stderr
    # The start-up cache was made for this very place.
    logged = idx("doctor")
    assert "start-up cache" in logged.lower()

    async def session() -> str:
        command, *arguments = container("--ro-bind", *config["config"]["Entrypoint"])
        async with Client(
            stdio_client(StdioServerParameters(command=command, args=arguments))
        ) as client:
            found = await client.call_tool("Search", {"query": "notice period"})
            return json.dumps(found.structured_content)

    assert "three months" in asyncio.run(session())
