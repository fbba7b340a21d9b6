"""The wheel: served from the cache when its inputs are known, built otherwise."""

import hashlib
import platform
import shutil
import sysconfig
import tempfile
from pathlib import Path

from . import cache, environment, jars, source, toolchain, wrapper
from .console import run, say
from .options import Options

_COMPILE = Path(__file__).with_name("inside") / "compile.py"


def key(options: Options) -> str:
    """The name of a wheel in the cache: it changes with everything that decides its content.

    Args:
        options: the options the wheel is built with.

    Returns:
        A sha256 over the source files, the options, and the kind of Python and of C library
        the extension module is compiled for.
    """
    digest = hashlib.sha256()
    for file in source.files():
        content = hashlib.sha256((source.ROOT / file).read_bytes()).hexdigest()
        digest.update(f"{file.as_posix()} {content}\n".encode())
    target = (sysconfig.get_config_var("EXT_SUFFIX"), *platform.libc_ver())
    digest.update(f"{options} {target}".encode())
    return digest.hexdigest()


def obtain(options: Options, wheel_folder: Path) -> Path:
    """Put the wheel into a folder.

    Args:
        options: the options to build it with.
        wheel_folder: the folder the frontend asks for.

    Returns:
        The path of the wheel.

    Raises:
        BuildError: it is not in the cache and cannot be built.
    """
    kept = cache.folder() / "wheels" / key(options)
    if not (wheel := _first(kept)):
        compiler = toolchain.require()
        with cache.locked():
            # Another build may have made it while this one waited.
            wheel = _first(kept) or _build(options, compiler, kept)
    say(f"the wheel is {wheel}")
    return cache.place(wheel, wheel_folder)


def _first(folder: Path) -> Path | None:
    return next(folder.glob("*.whl"), None)


def _build(options: Options, compiler: str, kept: Path) -> Path:
    python = environment.ensure(compiler)
    artifacts = jars.locked()
    jars.ensure(python, artifacts)
    with tempfile.TemporaryDirectory(prefix="pylucene-") as temporary:
        folder = Path(temporary)
        wrapper.generate(python, artifacts, options, folder)
        # The metadata and licences of the wheel; JCC's setup.py knows of neither.
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(source.ROOT / name, folder)
        shutil.copytree(source.ROOT / "licenses", folder / "licenses")
        say("compiling the wrapper code; this takes minutes")
        run(
            (python, "-I", _COMPILE, "dist"),
            "the wrapper code could not be compiled: the compiler's words above say why",
            environ=environment.FLAGS | {"CXX": compiler},
            cwd=folder,
        )
        return cache.place(next((folder / "dist").glob("*.whl")), kept)
