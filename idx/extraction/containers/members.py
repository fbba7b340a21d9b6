"""Members of containers, each read by its own format: files in archives, messages, attachments."""

import hashlib
import io
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Final

from idx.crawl.patterns import Patterns
from idx.crawl.secret_files import is_secret
from idx.errors import SourceFileError, UnsupportedFileError
from idx.extraction.containers.budget import MAX_DEPTH, Budget, BudgetError
from idx.extraction.damage import damage
from idx.extraction.formats import extract_from
from idx.extraction.pdf.garbled import GarbledError
from idx.extraction.pdf.ocr.tesseract import OcrNeededError
from idx.extraction.text.secret_content import BYTES, SecretFileError, found_secret
from idx.extraction.types import (
    Embedded,
    Extracted,
    ExtractionOptions,
    Member,
    ReadFile,
    Unreadable,
)
from shared.analysis.detection import detect_language
from shared.messages import quantity
from shared.model.document import MEMBER_MARK

_IGNORED_TREES: Final = ("node_modules/", "__pycache__/", "__MACOSX/")
"""Folders in archives that hold copies of programs, or data of a file system."""

_MAX_NAME: Final = 1_000
"""Maximum length of a member's name, in characters."""

_MAX_NAMES_SHOWN: Final = 5

_DRIVE: Final = re.compile("[A-Za-z]:")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class MemberReader:
    """Reader of all that is within one file.

    Args:
        options: the options of extraction.
        budget: what may be unpacked from the file.

    Attributes:
        found: the members that were read or could not be read, in order.
    """

    def __init__(self, options: ExtractionOptions, budget: Budget) -> None:
        self.found: list[Member] = []
        self._options = options
        self._budget = budget
        self._ignored = Patterns((*_IGNORED_TREES, *options.exclude))

    def read(self, extracted: Extracted, name: str, depth: int = 1) -> Extracted:
        """Read the members of a container, and theirs.

        Args:
            extracted: the container's own text, with its members.
            name: the path of the container within the file; empty for the file itself.
            depth: number of containers around the members.

        Returns:
            The container's text without members, with warnings of those that were left out.
        """
        left_out: defaultdict[str, list[str]] = defaultdict(list)
        warnings = list(extracted.warnings)
        taken: set[str] = set()
        file = Path(name or "file")
        try:
            with damage(file, "container"):
                for each in extracted.members:
                    if reason := self._reason_to_skip(each.name):
                        left_out[reason].append(each.name)
                        continue
                    if reason == "":
                        continue
                    self._budget.take_member()
                    path = _unique(each.name, taken)
                    self._read_one(each, f"{name}{MEMBER_MARK}{path}" if name else path, depth)
        except BudgetError as error:
            warnings.append(f"is read only in part: {error}")
        except SourceFileError as error:
            warnings.append(f"is read only in part: {error.reason}")
        for reason, names in left_out.items():
            shown = ", ".join(map(repr, names[:_MAX_NAMES_SHOWN]))
            more = " …" if len(names) > _MAX_NAMES_SHOWN else ""
            warnings.append(f"{quantity(len(names), 'member')} {reason}: {shown}{more}"[:_MAX_NAME])
        return replace(extracted, members=(), warnings=tuple(warnings))

    def _reason_to_skip(self, path: str) -> str | None:
        """Return why a member is left out, empty if that is not worth a word; None to read it."""
        normal = path.replace("\\", "/")
        *folders, name = parts = normal.split("/")
        if normal.startswith("/") or ".." in parts or _DRIVE.match(normal):
            return "left out, because the name leads outside"
        if not name or len(path) > _MAX_NAME or _CONTROL.search(path):
            return "left out, because the name is not one of a file"
        is_hidden = any(part.startswith(".") for part in parts) and not self._options.hidden
        if is_hidden or self._ignored.verdict(normal):
            return ""
        if is_secret(name) or any(is_secret(f"{folder}/") for folder in folders):
            return "left out, because the name is that of a secret"
        return None

    def _read_one(self, each: Embedded, path: str, depth: int) -> None:
        """Read a member, and what is within it."""
        place = len(self.found)
        try:
            read = self._contents(each, path, depth)
        except UnsupportedFileError as error:
            self.found.insert(place, Member(path, Unreadable("unsupported", error.reason)))
        except SecretFileError as error:
            self.found.insert(place, Member(path, Unreadable("secret", error.reason)))
        except SourceFileError as error:
            self.found.insert(place, Member(path, failure(error)))
        else:
            self.found.insert(place, Member(path, read))

    def _contents(self, each: Embedded, path: str, depth: int) -> ReadFile:
        file = Path(each.name.replace("\\", "/"))
        limit = int(self._options.max_megabytes * 1_000_000)
        if each.size is not None and each.size > limit:
            raise SourceFileError(
                file,
                f"has {each.size / 1e6:.1f} MB, more than the {self._options.max_megabytes:g} MB "
                "that are allowed; allow more with --max-size MB",
            )
        with damage(file, "member of a container"):
            data = each.read()
        if secret := found_secret(data[:BYTES]):
            raise SecretFileError(file, f"seems to contain {secret}")
        named = Path(each.read_as or each.name)
        extracted = extract_from(io.BytesIO(data), named, self._options, self._budget)
        if secret := found_secret(extracted.text[:BYTES].encode(errors="replace")):
            raise SecretFileError(file, f"seems to contain {secret}")
        if extracted.members and depth >= MAX_DEPTH:
            warning = f"what is in it was not read: it lies within {MAX_DEPTH} other files"
            extracted = replace(extracted, members=(), warnings=(*extracted.warnings, warning))
        return ReadFile(
            extracted=self.read(extracted, path, depth + 1),
            language=detect_language(extracted.text),
            size=len(data),
            modified_ns=each.modified_ns,
            content_hash=hashlib.sha256(data).hexdigest(),
            is_settled=True,
        )


def failure(error: SourceFileError) -> Unreadable:
    """Return the failure that an error of a file's content means."""
    match error:
        case OcrNeededError(pages=pages):
            return Unreadable("failed", error.reason, pages)
        case GarbledError():
            return Unreadable("garbled", error.reason)
    return Unreadable("failed", error.reason)


def _unique(name: str, taken: set[str]) -> str:
    """Return a name, with a number if another member has the same."""
    name = name.replace("\\", "/")
    unique, number = name, 1
    while unique in taken:
        number += 1
        path = Path(name)
        unique = str(path.with_name(f"{path.stem} ({number}){path.suffix}"))
    taken.add(unique)
    return unique
