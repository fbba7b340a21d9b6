"""OCI image layouts (image-spec 1.1) of finished root file systems, in one tar archive."""

import gzip
import hashlib
import io
import json
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

_TYPE: Final = "application/vnd.oci.image"


@dataclass(frozen=True)
class Layer:
    """A layer, compressed.

    Attributes:
        content: the file that holds it.
        diff_id: the hash of its tar archive before compression, as `sha256:` and digits.
        created_by: what made it, for people.
    """

    content: Path
    diff_id: str
    created_by: str


def pack(root: Path, paths: Iterable[str], target: Path, seconds: int, created_by: str) -> Layer:
    """Pack files of a root file system as a layer.

    Args:
        root: the file system.
        paths: files and folders in it, relative to it; folders with all that is in them.
        target: the layer to write.
        seconds: the latest time that a file keeps, since 1970.
        created_by: what made it, for people.
    """
    names = set[str]()
    for path in paths:
        inside = root / path
        names.add(path)
        # Debian's /bin is a link to a folder.
        if not inside.is_symlink():
            names |= {str(each.relative_to(root)) for each in inside.rglob("*")}

    def clamped(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.mtime = min(int(entry.mtime), seconds)
        entry.uname = entry.gname = ""
        return entry

    with tempfile.TemporaryFile() as plain:
        with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name in sorted(names):
                archive.add(root / name, name, recursive=False, filter=clamped)
        plain.seek(0)
        diff_id = f"sha256:{hashlib.file_digest(plain, 'sha256').hexdigest()}"
        plain.seek(0)
        with (
            target.open("wb") as file,
            gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as compressed,
        ):
            while block := plain.read(1 << 20):
                compressed.write(block)
    return Layer(target, diff_id, created_by)


def write(
    target: Path,
    layers: list[Layer],
    config: dict[str, Any],
    annotations: dict[str, str],
    seconds: int,
) -> None:
    """Write an archive with one image for Linux on x86_64.

    Args:
        target: the archive.
        layers: from the lowest.
        config: how containers of the image run, as in the specification.
        annotations: what `org.opencontainers.image` says of it, also the labels of containers.
        seconds: the time of the image, since 1970.
    """
    created = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    image = {
        "created": created,
        "architecture": "amd64",
        "os": "linux",
        "config": {**config, "Labels": annotations},
        "rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer in layers]},
        "history": [{"created": created, "created_by": layer.created_by} for layer in layers],
    }
    described = [
        _descriptor(f"{_TYPE}.layer.v1.tar+gzip", layer.content.read_bytes()) for layer in layers
    ]
    configured = _json(image)
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": f"{_TYPE}.manifest.v1+json",
            "config": _descriptor(f"{_TYPE}.config.v1+json", configured),
            "layers": described,
            "annotations": annotations,
        }
    )
    version = annotations["org.opencontainers.image.version"]
    named = {
        **_descriptor(f"{_TYPE}.manifest.v1+json", manifest),
        "platform": {"architecture": "amd64", "os": "linux"},
        "annotations": {
            "org.opencontainers.image.ref.name": version,
            # By this podman names the image that it loads.
            "io.containerd.image.name": f"localhost/mcp-lucene:{version}",
        },
    }
    index = {
        "schemaVersion": 2,
        "mediaType": f"{_TYPE}.index.v1+json",
        "manifests": [named],
    }
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as archive:

        def add(name: str, content: bytes) -> None:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(content), seconds, 0o644
            archive.addfile(entry, io.BytesIO(content))

        add("oci-layout", _json({"imageLayoutVersion": "1.0.0"}))
        add("index.json", _json(index))
        for content in (configured, manifest, *(layer.content.read_bytes() for layer in layers)):
            add(f"blobs/sha256/{hashlib.sha256(content).hexdigest()}", content)


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":"), sort_keys=True).encode()


def _descriptor(media_type: str, content: bytes) -> dict[str, Any]:
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return {"mediaType": media_type, "digest": digest, "size": len(content)}
