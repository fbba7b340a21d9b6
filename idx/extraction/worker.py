"""Tasks of worker processes, which read one file at a time under limits, and what is within it.

Files in archives, messages and attachments are each read by their own format.
"""

import hashlib
import io
import os
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from idx.errors import SecretFileError, SourceFileError
from idx.extraction import media_types
from idx.extraction.file_type import BEGINNING, damage, file_type
from idx.extraction.formats import extract_from
from idx.extraction.types import (
    CHANGED,
    MAX_DEPTH,
    VANISHED,
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
from idx.text.cleaning import headings
from shared import system
from shared.analysis.detection import detect_language
from shared.files.access import OWN, IrregularFileError, content_hash, identity_of, is_lock_file
from shared.files.location import Location, opened_file
from shared.files.secret_files import BYTES, found_secret, is_allowed_secret, is_secret
from shared.messages import quantity, reason_of
from shared.model.document import MEMBER_MARK, marked_path

if TYPE_CHECKING:
    from shared.files.patterns import Patterns

_IGNORED_TREES: Final = ("node_modules/", "__pycache__/", "__MACOSX/")
"""Folders in archives that hold copies of programs, or data of a file system."""

_MAX_NAME: Final = 1_000  # characters of a member's name

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
        if is_hidden or is_lock_file(name) or self._ignored.verdict(path):
            return ""
        if has_secret_name:
            return "left out, because the name is that of a secret"
        return None

    def _read_one(self, each: Embedded, path: str, depth: int) -> None:
        place = len(self.found)
        result: ReadFile | Unreadable
        try:
            result = self._contents(each, path, depth)
        except SourceFileError as error:
            self.left_out += isinstance(error, SecretFileError)
            result = _failure(error)
        except (BudgetError, MemoryError):
            raise
        except OSError as error:
            result = Unreadable("failed", f"cannot be read: {reason_of(error)}")
        except Exception as error:  # noqa: BLE001 - of a reader; it costs this member alone
            result = Unreadable.unforeseen(error)
        self.found.insert(place, Member(path, result))

    def _contents(self, each: Embedded, path: str, depth: int) -> ReadFile:
        file = Path(_readable(each))
        _check_size(file, each.size or 0, self._options.max_megabytes)
        with damage(file, "member of a container"):
            data = each.read()
        named = Path(each.read_as) if each.read_as else file
        options = within_time(self._options, self._budget.seconds_left)
        stream = io.BytesIO(data)
        extracted = _extracted(stream, named, options, self._budget, allows=self._allow_secrets)
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

    def _unique(self, path: str) -> str:
        """Return a path within the file, with a number if another member has the same."""
        unique = path
        while unique in self._same:
            self._same[path] += 1
            named = PurePosixPath(path)
            unique = str(named.with_name(f"{named.stem} ({self._same[path]}){named.suffix}"))
        self._same[unique] = 1
        return unique


def _extracted(
    stream: BinaryIO, file: Path, options: ExtractionOptions, budget: Budget, *, allows: bool
) -> Extracted:
    """Extract an open file, which may hold a secret only if that is allowed."""
    if allows:
        return extract_from(stream, file, options, budget)
    beginning = stream.read(BYTES)
    stream.seek(0)
    if not _is_examined_by_member(beginning, file, options):
        _refuse_secret(file, beginning)
    extracted = extract_from(stream, file, options, budget)
    # The bytes of many formats are compressed.
    _refuse_secret(file, extracted.text[:BYTES].encode(errors="replace"))
    return extracted


def _is_examined_by_member(beginning: bytes, file: Path, options: ExtractionOptions) -> bool:
    """Check whether a file is an archive or a mailbox: a secret in it concerns one member only."""
    try:
        media_type = file_type(beginning[:BEGINNING], file, options.encoding)
    except SourceFileError:
        return False
    return media_type in media_types.ARCHIVES | media_types.MAILBOXES


def _failure(error: SourceFileError) -> Unreadable:
    return Unreadable(error.kind, error.reason, error.scanned_pages)


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


def read_file(location: Location, options: ExtractionOptions) -> ReadFile:
    file = location.path
    with _opened(location) as stream:
        before = os.fstat(stream.fileno())
        if identity_of(before) in options.own_files:
            raise SecretFileError(file, OWN)
        now = time.time_ns()
        _check_size(file, before.st_size, options.max_megabytes)
        digest = content_hash(stream)
        is_allowed = is_allowed_secret(file, options.allow_secrets)
        stream.seek(0)
        budget = Budget(before.st_size, options.member_seconds)
        extracted = _extracted(stream, file, options, budget, allows=is_allowed)
        members = MemberReader(options, budget, allow_secrets=is_allowed)
        extracted = members.read(extracted, "")
        left_out = members.left_out + members.is_partial
        after = os.fstat(stream.fileno())
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise SourceFileError(file, CHANGED)
    return ReadFile(
        extracted=extracted,
        language=detect_language(extracted.text),
        size=before.st_size,
        modified_ns=before.st_mtime_ns,
        content_hash=digest,
        # Any change after this moment has a later time.
        is_settled=now - before.st_mtime_ns > _tick(before.st_mtime_ns),
        members=tuple(members.found),
        has_more_members=members.is_partial,
        left_out=left_out if members.found or left_out else None,
    )


def hash_file(location: Location) -> str:
    with _opened(location) as stream:
        return content_hash(stream)


def _refuse_secret(file: Path, content: bytes) -> None:
    if secret := found_secret(content):
        raise SecretFileError(file, f"seems to contain {secret}")


@contextmanager
def _opened(location: Location) -> Iterator[io.BufferedReader]:
    """Open a file for a block, and convert errors of the system, then or later, to messages."""
    try:
        with opened_file(location) as stream:
            yield stream
    except FileNotFoundError as error:
        raise SourceFileError(location.path, VANISHED) from error
    except IrregularFileError as error:
        raise SourceFileError(location.path, str(error)) from error
    except OSError as error:
        reason = f"cannot be read: {reason_of(error)}"
        raise SourceFileError(location.path, reason) from error


def _tick(modified_ns: int) -> int:
    """Return the resolution of modification times on the file system, in nanoseconds.

    File systems store whole seconds (FAT only even-numbered ones), or use the kernel's clock, which
    ticks at least every 10 ms.
    """
    return 2_000_000_000 if modified_ns % 1_000_000_000 == 0 else 20_000_000


def _check_size(file: Path, size: int, max_megabytes: float) -> None:
    if size > max_megabytes * 1e6:
        raise SourceFileError(
            file,
            f"has {size / 1e6:.1f} MB, more than the {max_megabytes:g} MB that are allowed; allow "
            "more with --max-size MB",
        )


def read_files(
    files: Sequence[Location], options: ExtractionOptions, seconds: float
) -> list[ReadFile | Unreadable]:
    """Read files in sequence; errors are values, which can be pickled, but for a MemoryError."""
    return _each(partial(read_file, options=options), files, seconds)


def hash_files(files: Sequence[Location], seconds: float) -> list[str | Unreadable]:
    """Hash the content of files in sequence; see `read_files`."""
    return _each(hash_file, files, seconds)


def _each(work: Callable[[Location], Any], files: Sequence[Location], seconds: float) -> list[Any]:
    # The limit ends a worker that hangs, even if its parent is gone.
    used = int(time.process_time())
    system.limit_processor_time(used + int(seconds) + 2)
    results = []
    for file in files:
        try:
            results.append(work(file))
        except SourceFileError as error:
            results.append(_failure(error))
    return results
