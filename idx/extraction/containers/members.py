"""Members of containers, each read by its own format: files in archives, messages, attachments."""

import hashlib
import io
import re
from collections import defaultdict
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from idx.errors import SecretFileError, SourceFileError, UnsupportedFileError
from idx.extraction import media_types
from idx.extraction.damage import damage
from idx.extraction.file_type import BEGINNING, file_type
from idx.extraction.formats import extract_from
from idx.extraction.pdf.details import GarbledError
from idx.extraction.pdf.ocr import OcrNeededError
from idx.extraction.text.headings import headings
from idx.extraction.types import (
    MAX_DEPTH,
    Budget,
    BudgetError,
    Embedded,
    Extracted,
    ExtractionOptions,
    Member,
    ReadFile,
    Unreadable,
    within_time,
)
from shared.analysis.detection import detect_language
from shared.files.secret_content import BYTES, found_secret
from shared.files.secret_files import is_secret
from shared.messages import quantity
from shared.model.document import MEMBER_MARK, marked_path

if TYPE_CHECKING:
    from shared.files.patterns import Patterns

_IGNORED_TREES: Final = ("node_modules/", "__pycache__/", "__MACOSX/")
"""Folders in archives that hold copies of programs, or data of a file system."""

_MAX_NAME: Final = 1_000
"""Maximum length of a member's name, in characters."""

_MAX_NAMES_SHOWN: Final = 5

_DRIVE: Final = re.compile("[A-Za-z]:")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class MemberReader:
    """Reader of all that is within one file; what it found is complete after `read`."""

    def __init__(
        self, options: ExtractionOptions, budget: Budget, *, allow_secrets: bool = False
    ) -> None:
        self.found: list[Member] = []
        self.is_partial = False
        self.left_out = 0
        self._options = options
        self._budget = budget
        self._allow_secrets = allow_secrets
        self._same: dict[str, int] = {}

    @cached_property
    def _ignored(self) -> "Patterns":
        # Most files have no members.
        from shared.files.patterns import Patterns

        return Patterns((*_IGNORED_TREES, *self._options.exclude))

    def read(self, extracted: Extracted, name: str, depth: int = 1) -> Extracted:
        """Read the members of a container, and theirs, and return its text with warnings of those
        left out.
        """
        left_out: defaultdict[str, list[str]] = defaultdict(list)
        warnings = list(extracted.warnings)
        file = Path(name or "file")
        try:
            with damage(file, "container"):
                for each in extracted.members:
                    path = _readable(each)
                    if reason := self._reason_to_skip(path, is_invented=bool(each.read_as)):
                        left_out[reason].append(path)
                        continue
                    if reason == "":
                        continue
                    self._budget.take_member()
                    within = marked_path(path)
                    whole = f"{name}{MEMBER_MARK}{within}" if name else within
                    self._read_one(each, self._unique(whole), depth)
        except BudgetError as error:
            self.is_partial = True
            warnings.append(f"is read only in part: {error}")
        except SourceFileError as error:
            self.is_partial = True
            warnings.append(f"is read only in part: {error.reason}")
        for reason, names in left_out.items():
            shown = ", ".join(map(repr, names[:_MAX_NAMES_SHOWN]))
            more = " …" if len(names) > _MAX_NAMES_SHOWN else ""
            warnings.append(f"{quantity(len(names), 'member')} {reason}: {shown}{more}"[:_MAX_NAME])
        return replace(extracted, members=(), warnings=tuple(warnings))

    def _reason_to_skip(self, path: str, *, is_invented: bool) -> str | None:
        """Return why a member is left out, empty if that is not worth a word; None to read it.

        An invented path is no one's, but the subject or the id of a message.
        """
        *folders, name = parts = path.split("/")
        if not is_invented and (path.startswith("/") or ".." in parts or _DRIVE.match(path)):
            return "left out, because the name leads outside"
        if not name or len(path) > _MAX_NAME or _CONTROL.search(path):
            return "left out, because the name is not one of a file"
        if is_invented:
            return None
        has_secret_name = is_secret(name) or any(is_secret(f"{folder}/") for folder in folders)
        self.left_out += has_secret_name
        is_hidden = any(part.startswith(".") for part in parts) and not self._options.hidden
        if is_hidden or self._ignored.verdict(path):
            return ""
        if has_secret_name:
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
            self.left_out += 1
            self.found.insert(place, Member(path, Unreadable("secret", error.reason)))
        except SourceFileError as error:
            self.found.insert(place, Member(path, failure(error)))
        else:
            self.found.insert(place, Member(path, read))

    def _contents(self, each: Embedded, path: str, depth: int) -> ReadFile:
        file = Path(_readable(each))
        limit = int(self._options.max_megabytes * 1_000_000)
        if each.size is not None and each.size > limit:
            raise SourceFileError(
                file,
                f"has {each.size / 1e6:.1f} MB, more than the {self._options.max_megabytes:g} MB "
                "that are allowed; allow more with --max-size MB",
            )
        with damage(file, "member of a container"):
            data = each.read()
        named = Path(each.read_as) if each.read_as else file
        if not is_examined_by_member(data, named, self._options):
            self._refuse_secret(file, data[:BYTES])
        options = within_time(self._options, self._budget.seconds_left)
        extracted = extract_from(io.BytesIO(data), named, options, self._budget)
        self._refuse_secret(file, extracted.text[:BYTES].encode(errors="replace"))
        if extracted.members and depth >= MAX_DEPTH:
            warning = f"what is in it was not read: it lies within {MAX_DEPTH} other files"
            extracted = replace(extracted, members=(), warnings=(*extracted.warnings, warning))
        if each.section:
            around = headings((level, text, 0) for level, text in enumerate(each.section, start=1))
            extracted = replace(extracted, headings=(*around, *extracted.headings))
        return ReadFile(
            extracted=self.read(extracted, path, depth + 1),
            language=detect_language(extracted.text),
            size=len(data),
            modified_ns=each.modified_ns,
            content_hash=hashlib.sha256(data).hexdigest(),
            is_settled=True,
        )

    def _refuse_secret(self, file: Path, content: bytes) -> None:
        if not self._allow_secrets and (secret := found_secret(content)):
            raise SecretFileError(file, f"seems to contain {secret}")

    def _unique(self, path: str) -> str:
        """Return a path within the file, with a number if another member has the same."""
        unique = path
        while unique in self._same:
            self._same[path] += 1
            named = PurePosixPath(path)
            unique = str(named.with_name(f"{named.stem} ({self._same[path]}){named.suffix}"))
        self._same[unique] = 1
        return unique


def is_examined_by_member(beginning: bytes, file: Path, options: ExtractionOptions) -> bool:
    """Check whether a file is an archive or a mailbox: a secret in it concerns one member only."""
    try:
        media_type = file_type(beginning[:BEGINNING], file, options.encoding)
    except (SourceFileError, UnsupportedFileError):
        return False
    return media_type in media_types.ARCHIVES | media_types.MAILBOXES


def failure(error: SourceFileError) -> Unreadable:
    """Return the failure that an error of a file's content means."""
    match error:
        case OcrNeededError(pages=pages):
            return Unreadable("failed", error.reason, pages)
        case GarbledError():
            return Unreadable("garbled", error.reason)
    return Unreadable("failed", error.reason)


def _readable(each: Embedded) -> str:
    """Return the name of a member as a path with slashes, in valid Unicode.

    Parts that say nothing are left out, as in ``./letter.txt``. Python represents bytes of a name
    that are not UTF-8 as surrogates.
    """
    name = each.name
    if not each.read_as:
        slashed = name.replace("\\", "/")
        parts = [part for part in slashed.split("/") if part not in {"", "."}]
        name = "/" * slashed.startswith("/") + "/".join(parts)
    return name.encode(errors="backslashreplace").decode()
