"""The wheel: served from the cache when its inputs are known, built otherwise, as options say."""

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from . import archive, cache, environment, jars, platforms, source, wrapper
from .console import BuildError, say
from .environment import Environment
from .jcc_module import JccModule
from .platforms import Platform

_PYTHON_TAG = "cp311-abi3"

ConfigSettings = Mapping[str, str | list[str]]


@dataclass(frozen=True)
class Options:
    """What the user decides about the wheel."""

    classes: Literal["listed", "all"] = "listed"  # those of classes.txt, or all public ones
    platform: Platform | None = None  # None for this machine's


def parse_options(settings: ConfigSettings | None) -> Options:
    """Read the settings of the build frontend."""
    given = dict(settings or {})
    classes = given.pop("classes", "listed")
    tag = given.pop("platform", None)
    if given:
        raise BuildError(
            f"unknown build option {min(given)!r}: there are only 'classes' and 'platform'"
        )
    platform = None if tag is None else platforms.named(str(tag))
    if classes == "listed":
        return Options("listed", platform)
    if classes == "all":
        return Options("all", platform)
    raise BuildError(f"build option classes={classes!r} is unknown: use 'listed' or 'all'")


def key(options: Options) -> str:
    """The name of a wheel in the cache: it changes with everything that decides its content."""
    digest = hashlib.sha256()
    for file in source.files():
        content = hashlib.sha256((source.ROOT / file).read_bytes()).hexdigest()
        digest.update(f"{file.as_posix()} {content}\n".encode())
    platform = options.platform or platforms.here()
    digest.update(f"{options.classes} {platform.tag} {archive.epoch()}".encode())
    return digest.hexdigest()


def obtain(options: Options, wheel_folder: Path) -> Path:
    """Put the wheel into a folder."""
    (wheel,) = obtain_all([options], wheel_folder)
    return wheel


def obtain_all(wanted: Sequence[Options], wheel_folder: Path) -> list[Path]:
    """Put several wheels of the same classes into a folder; their code is generated once."""
    if any(_ready(options) is None for options in wanted):
        platforms.require_tools()
        with cache.locked():
            # Another build may have made some while this one waited.
            if missing := [options for options in wanted if _ready(options) is None]:
                _build(missing)
    kept = [wheel for options in wanted if (wheel := _ready(options))]
    for wheel in kept:
        say(f"the wheel is {wheel}")
    return [cache.place(wheel, wheel_folder) for wheel in kept]


def _ready(options: Options) -> Path | None:
    """A wheel that is made of these sources, from the cache or from the folder PYLUCENE_WHEELS."""
    wanted = key(options)
    if kept := next((cache.folder() / "wheels" / wanted).glob("*.whl"), None):
        return kept
    folder = os.environ.get("PYLUCENE_WHEELS", "")
    platform = options.platform or platforms.here()
    ready = Path(folder).glob(f"pylucene-*-{_PYTHON_TAG}-{platform.tag}.whl") if folder else ()
    return next((wheel for wheel in ready if _key_in(wheel) == wanted), None)


def _key_in(wheel: Path) -> str:
    """The key that a wheel was built with; another backend's has none."""
    try:
        with zipfile.ZipFile(wheel) as packed:
            (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/WHEEL"))
            lines = packed.read(name).decode().splitlines()
    except (ValueError, zipfile.BadZipFile) as error:
        raise BuildError(f"{wheel} is not a wheel ({error}): remove it") from error
    generator = next((line for line in lines if line.startswith("Generator: ")), "")
    return generator.rpartition(" ")[2]


def _build(missing: Sequence[Options]) -> None:
    made = environment.ensure()
    artifacts = jars.locked()
    jars.ensure(made.python, artifacts)
    (classes,) = {options.classes for options in missing}
    with tempfile.TemporaryDirectory(prefix="pylucene-") as temporary:
        folder = Path(temporary)
        wrapper.generate(made, artifacts, classes, folder)
        for options in missing:
            platform = options.platform or platforms.here()
            say(f"compiling the wrapper code for {platform.tag}; this takes a minute")
            wheel = _compile(made, platform, folder, key(options))
            cache.place(wheel, cache.folder() / "wheels" / key(options))


def _compile(made: Environment, platform: Platform, folder: Path, name: str) -> Path:
    """Compile the generated code of a folder for a platform, and pack the wheel of this key."""
    java = environment.java_runtime(made, platform)
    code = JccModule(folder / "_lucene", "_lucene", made.jcc_version)
    module = code.build(made.compiler, platform, jars.headers(made.python, platform), java)
    table = source.project()
    stem = f"{table['name']}-{table['version']}"
    info = f"{stem}.dist-info"
    package = folder / "lucene"
    files: dict[str, Path | bytes] = {
        f"lucene/{file.name}": file for file in package.iterdir() if file.is_file()
    }
    stubs = folder / "stubs"
    files |= {f.relative_to(stubs).as_posix(): f for f in stubs.rglob("*") if f.is_file()}
    files[f"lucene/{module.name}"] = module
    files[f"{info}/METADATA"] = source.pkg_info().encode()
    files[f"{info}/WHEEL"] = source.wheel_file(f"{_PYTHON_TAG}-{platform.tag}", name).encode()
    for licence in source.glob(*table["license-files"]):
        files[f"{info}/licenses/{licence.as_posix()}"] = source.ROOT / licence
    target = folder / f"{stem}-{_PYTHON_TAG}-{platform.tag}.whl"
    archive.write_wheel(target, files, f"{info}/RECORD")
    return target
