"""Programs of the system that read files, Tesseract and LibreOffice: where they are, and limits."""

import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from shared import system
from shared.system.shell import find_program

_QUESTION_SECONDS: Final = 10.0  # for the version and the languages

_MAX_VERSION: Final = 100

MAX_LANGUAGES: Final = 5  # languages that are used at once by default

_LIBREOFFICE: Final = ("soffice", "libreoffice")
_MACOS: Final = Path("/Applications/LibreOffice.app/Contents/MacOS/soffice")


def confined(seconds: float, max_output_bytes: int) -> dict[str, Any]:
    """Return arguments of `Popen` that limit a program's time and output, and end it with us."""

    def confine() -> None:
        system.end_with_parent()
        system.limit_processor_time(int(seconds))
        system.limit_file_size(max_output_bytes)

    return {} if sys.platform == "win32" else {"preexec_fn": confine}


def find_libreoffice() -> str | None:
    """Return the absolute path of LibreOffice; None if it is not installed."""
    return find_program(*_LIBREOFFICE) or (str(_MACOS) if _MACOS.exists() else None)


def find_tesseract() -> str | None:
    """Return the absolute path of Tesseract; None if it is not installed."""
    return find_program("tesseract")


def installed_languages(tesseract: str) -> tuple[str, ...]:
    """Return the languages that Tesseract can read, by its own codes; empty if it does not say."""
    lines = _answer(tesseract, "--list-langs")
    return tuple(line for line in lines[1:] if line.strip() not in {"", "osd"})


def default_languages(tesseract: str) -> str:
    """Return the languages that are used if none are given: those installed, up to five."""
    return "+".join(installed_languages(tesseract)[:MAX_LANGUAGES])


def tesseract_version(tesseract: str) -> str:
    """Return the version of Tesseract, such as ``tesseract 5.3.0``; empty if it does not say."""
    return next(iter(_answer(tesseract, "--version")), "")[:_MAX_VERSION]


def _answer(program: str, option: str) -> list[str]:
    try:
        done = subprocess.run(
            [program, option],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=_QUESTION_SECONDS,
            check=False,
            cwd=Path(program).parent,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.splitlines()
