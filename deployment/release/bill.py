"""The bill of materials of PyLucene's wheels: what they hold that no package registry knows of."""

import re
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

_PIN = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^\s;]+)", re.MULTILINE)


def write(sources: Path, target: Path, seconds: int) -> None:
    """Write the bill of materials as CycloneDX, the same each time for the same sources.

    Args:
        sources: the folder `pylucene`, with the pins of everything that goes into a wheel.
        target: the file to write.
        seconds: its time, since 1970.
    """
    project = tomllib.loads((sources / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, version = project["name"], project["version"]
    bom = Bom(components=[*_jars(sources), *_code(sources)])
    bom.metadata.component = _component(PackageURL("pypi", name=name, version=version))
    bom.metadata.timestamp = datetime.fromtimestamp(seconds, UTC)
    bom.serial_number = uuid5(NAMESPACE_URL, f"pkg:pypi/{name}@{version}#{seconds}")
    bom.register_dependency(bom.metadata.component, bom.components)
    outputter = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6)
    target.write_text(outputter.output_as_string(indent=2) + "\n", encoding="utf-8")


_TRIMMED: Final = ("icu4j",)
"""Jars that the wheel has without some of their files, so that their hash is another one."""


def _jars(sources: Path) -> Iterator[Component]:
    lock = tomllib.loads((sources / "jgo.lock.toml").read_text(encoding="utf-8"))
    for jar in lock["dependencies"]:
        purl = PackageURL("maven", jar["groupId"], jar["artifactId"], jar["version"])
        pinned = HashType(alg=HashAlgorithm.SHA_256, content=jar["sha256"])
        yield _component(purl, *([] if jar["artifactId"] in _TRIMMED else [pinned]))


def _code(sources: Path) -> Iterator[Component]:
    """JCC, whose runtime is in the module, and Zig, whose C++ library is."""
    for file, wanted in (("jcc.txt", "jcc"), ("tools.txt", "ziglang")):
        pins = (sources / "requirements" / file).read_text(encoding="utf-8")
        for pin in _PIN.finditer(pins):
            if pin["name"] == wanted:
                yield _component(PackageURL("pypi", name=wanted, version=pin["version"]))


def _component(purl: PackageURL, *hashes: HashType) -> Component:
    return Component(
        type=ComponentType.LIBRARY,
        group=purl.namespace,
        name=purl.name,
        version=purl.version,
        purl=purl,
        # Made up at random otherwise.
        bom_ref=str(purl),
        hashes=hashes,
    )
