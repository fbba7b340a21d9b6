"""Windows' `python3.dll`, which the artifact of CPython on Maven lacks."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

_EXPORT: Final = re.compile(rb"__imp_(_?Py\w+)\0")


def write_stable_abi(import_library: Path, target: Path, *compiler: str | Path) -> None:
    """Build Windows' `python3.dll`, which extension modules for the stable ABI load.

    Args:
        import_library: that of the DLL to which it passes all calls on, such as `python313.lib`.
        target: the file to write.
        compiler: the command of Zig.
    """
    names = sorted({name.decode() for name in _EXPORT.findall(import_library.read_bytes())})
    version = import_library.stem
    lines = ["LIBRARY python3", "EXPORTS", *(f"  {name}={version}.{name}" for name in names)]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(Path(__file__).with_name("python3.c"), folder)
        Path(folder, "python3.def").write_text("\n".join(lines) + "\n", "ascii")
        # Names without folders: the linker writes those of debug information into the DLL.
        options = "cc -target x86_64-windows-gnu -shared -O1 -s -nostdlib -o python3.dll"
        sources = ("-Wl,--entry=DllMainCRTStartup", "python3.c", "python3.def")
        subprocess.run([*compiler, *options.split(), *sources], cwd=folder, check=True)
        shutil.copyfile(Path(folder, "python3.dll"), target)
