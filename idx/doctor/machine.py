"""Checks of the machine and the installation: Python, programs, memory, disk and extras."""

import os
import platform
import shutil
from pathlib import Path
from typing import Final

from idx.clients.errors import ProgramMissingError
from idx.clients.launch import installed_program
from idx.doctor.finding import Finding, Findings
from idx.extraction.office.libreoffice import find_libreoffice
from idx.extraction.pdf.djvu import find_djvutxt
from idx.extraction.pdf.ocr.tesseract import find_tesseract, installed_languages
from shared.files.access import is_folder
from shared.installation import extra_command, missing_libraries
from shared.messages import reason_of
from shared.system import address_space_limit
from shared.version import software_version

_MIN_FREE_BYTES: Final = 50_000_000
"""Minimum free space on a disk, in bytes; with less, writing is likely to fail."""


def python() -> Findings:
    """Check Python, the operating system and the installed programs."""
    release, system = platform.python_version(), platform.system()
    where = f"Python {release} on {system} {platform.release()} ({platform.machine()})"
    if system == "Linux":
        yield Finding("Python", "ok", where)
    else:
        yield Finding(
            "Python",
            "warning",
            f"{where}: mcp-lucene is made on Linux, and tested less elsewhere; use a container if "
            "something fails",
        )
    try:
        program = installed_program()
    except ProgramMissingError as error:
        yield Finding("Programs", "problem", str(error))
    else:
        yield Finding("Programs", "ok", f"{program}, version {software_version()}")


def extras() -> Findings:
    """Report the optional extras of the distribution."""
    for extra, libraries in missing_libraries().items():
        install = f"not installed; for what needs it: {extra_command(extra)}"
        yield Finding("Extra", "ok", f"{extra}: {install if libraries else 'installed'}")


def ocr() -> Findings:
    """Report whether text in pictures can be read, and in which languages."""
    program = find_tesseract()
    if program is None:
        yield Finding(
            "OCR",
            "ok",
            "Tesseract is not installed, so that scanned pages are not read; on Debian and Ubuntu: "
            "apt install tesseract-ocr, and tesseract-ocr-deu for German and so on; on macOS: brew "
            "install tesseract",
        )
        return
    languages = installed_languages(program)
    if languages:
        yield Finding("OCR", "ok", f"{program} reads {', '.join(languages)}")
    else:
        yield Finding("OCR", "warning", f"{program} names no languages: install some for it")


def libreoffice() -> Findings:
    """Report whether old documents and presentations can be read."""
    program = find_libreoffice()
    missing = "LibreOffice is not installed, so that .doc and .ppt of 1997 to 2003 are not read"
    yield Finding("Old Office", "ok", f"{program} reads .doc and .ppt" if program else missing)


def djvu() -> Findings:
    """Report whether DjVu files can be read."""
    program = find_djvutxt()
    missing = (
        "djvutxt is not installed, so that .djvu is not read; on Debian and Ubuntu: apt install "
        "djvulibre-bin"
    )
    yield Finding("DjVu", "ok", f"{program} reads .djvu" if program else missing)


def memory(needed: int) -> Findings:
    """Check the limit on this process's address space.

    Args:
        needed: the address space that the Java virtual machine reserves, in bytes.
    """
    limit = address_space_limit()
    if limit is None:
        yield Finding("Memory", "ok", "no limit on the address space")
        return
    allowed = f"{limit / 1e9:.1f} GB of address space are allowed"
    if limit < needed:
        yield Finding(
            "Memory",
            "problem",
            f"{allowed}, and Java alone reserves {needed / 1e9:.1f} GB; raise the limit: "
            "ulimit -v unlimited",
        )
    else:
        yield Finding(
            "Memory",
            "warning",
            f"{allowed}, which Java and the whole index must fit into; raise the limit if searches "
            "fail: ulimit -v unlimited",
        )


def disk(index_path: Path) -> Findings:
    """Check the free space at the location of the index."""
    place = next(path for path in (index_path, *index_path.parents) if is_folder(path))
    try:
        free = shutil.disk_usage(place).free
        # An index that does not exist yet needs no space for a second copy.
        files = [*os.scandir(place)] if place == index_path else []
        size = sum(file.stat(follow_symlinks=False).st_size for file in files)
    except OSError as error:
        yield Finding("Disk", "warning", f"{place} cannot be looked at: {reason_of(error)}")
        return
    found = f"{free / 1e6:,.0f} MB are free at {place}"
    if free < _MIN_FREE_BYTES:
        yield Finding("Disk", "problem", f"{found}; writing will fail: free some space")
    elif free < size:
        yield Finding(
            "Disk",
            "warning",
            f"{found}, and the index has {size / 1e6:,.0f} MB; idx rebuild needs room for a second "
            "one: free some space",
        )
    else:
        yield Finding("Disk", "ok", found)
