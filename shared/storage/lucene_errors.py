"""Translation of Java exceptions to errors of this project."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import lucene
from java.io import EOFException, FileNotFoundException, IOException, UncheckedIOException
from java.lang import NoClassDefFoundError, OutOfMemoryError
from java.nio.file import AccessDeniedException, InvalidPathException, NoSuchFileException
from org.apache.lucene.index import (
    CorruptIndexException,
    ExitableDirectoryReader,
    IndexFormatTooNewException,
    IndexFormatTooOldException,
    IndexNotFoundException,
)
from org.apache.lucene.store import AlreadyClosedException

from shared.errors import (
    IndexDamagedError,
    IndexLuceneVersionError,
    IndexMissingError,
    IndexPathError,
    IndexWriteError,
    JavaHeapError,
    LuceneError,
    McpLuceneError,
)
from shared.files.index_folder import holds_index
from shared.files.lucene_files import NO_COMMIT, changed_commit, has_segments, written_by
from shared.java.cancellation import SearchStoppedError
from shared.settings.current import java_heap
from shared.storage.stored_chunks import StoredDetailsError


def text(thrown: Any) -> str:
    """Return the message of a Java throwable on one line; its class name if it has none."""
    return " ".join((thrown.getMessage() or thrown.getClass().getSimpleName()).split())


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn exceptions of Lucene while an index is read into errors that name the index."""
    try:
        yield
    except lucene.JavaError as error:
        raise _known_error(path, error) from error
    except StoredDetailsError as error:
        raise IndexDamagedError(path, str(error)) from error
    except lucene.InvalidArgsError as error:
        # Without the cause: it holds Java objects, which only a thread attached to Java can print.
        raise LuceneError(f"Lucene was called wrongly: {error}; please report this") from None


def load_classes() -> None:
    """Load the exception classes that errors are compared with, while there is memory for it.

    JCC loads a class on first use, and ends the process if Java cannot load it.
    """
    listed = (java_class for classes, _ in _READING_ERRORS for java_class in classes)
    for java_class in (*listed, OutOfMemoryError, NoClassDefFoundError):
        java_class.class_  # noqa: B018 - it loads the class


def _known_error(path: Path, error: lucene.JavaError) -> McpLuceneError:
    thrown = error.getJavaException()
    try:
        return _reading_error(path, thrown) or _unexpected_error(path, thrown, _READ_LESS_ADVICE)
    except lucene.JavaError:
        # There is not even enough memory to identify the exception.
        return JavaHeapError(path, java_heap(), _READ_LESS_ADVICE)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn exceptions of Lucene while an index is written into errors that name the index."""
    try:
        yield
    except lucene.JavaError as error:
        raise _writing_error(path, error.getJavaException()) from error


_ACCESS_FAULT: Final = "java.lang.InternalError"
"""Java exception for a page of a mapped file that the system cannot deliver (SIGBUS)."""


def _reading_error(path: Path, thrown: Any) -> McpLuceneError | None:
    if thrown.getClass().getName() == _ACCESS_FAULT:
        return IndexDamagedError(path, "a file was truncated while it was read, or its disk failed")
    for classes, error in _READING_ERRORS:
        if _is_any(thrown, *classes):
            return error(path, thrown)
    return None


def _missing_file_error(path: Path, _: Any) -> McpLuceneError:
    return IndexDamagedError(path, NO_COMMIT) if has_segments(path) else IndexMissingError(path)


def _version_error(path: Path, thrown: Any) -> McpLuceneError:
    # A changed bit can look like another version.
    if damage := changed_commit(path):
        return IndexDamagedError(path, damage)
    newer = IndexFormatTooNewException.instance_(thrown)
    return IndexLuceneVersionError(path, written_by(path), lucene.VERSION, newer=newer)


_READING_ERRORS: Final[list[tuple[tuple[Any, ...], Callable[[Path, Any], McpLuceneError]]]] = [
    ((ExitableDirectoryReader.ExitingReaderException,), lambda *_: SearchStoppedError()),
    ((IndexNotFoundException,), _missing_file_error),
    ((IndexFormatTooOldException, IndexFormatTooNewException), _version_error),
    (
        (InvalidPathException,),
        lambda path, _: IndexPathError(
            path, "Java cannot represent it in the locale of this process"
        ),
    ),
    (
        (AccessDeniedException,),
        lambda path, thrown: IndexPathError(path, f"permission denied for {thrown.getMessage()}"),
    ),
    (
        (CorruptIndexException, EOFException, FileNotFoundException, NoSuchFileException),
        lambda path, thrown: IndexDamagedError(path, text(thrown)),
    ),
    ((IOException,), lambda path, thrown: IndexPathError(path, text(thrown))),
]
"""Java exceptions, subclasses before their bases, and the errors that they become."""


_FAILED_BEFORE: Final = ("background merge hit exception", "this writer hit an unrecoverable error")
"""Beginnings of messages of `IndexWriter.forceMerge` that only refer to an earlier failure."""


def _writing_error(path: Path, thrown: Any) -> McpLuceneError:
    # The writer closed itself after the failure in the cause, or a thread of it failed with that.
    is_later = _is_any(thrown, AlreadyClosedException, UncheckedIOException)
    if is_later or str(thrown.getMessage()).startswith(_FAILED_BEFORE):
        thrown = thrown.getCause() or thrown
    known = _reading_error(path, thrown) or _unexpected_error(path, thrown, _WRITE_LESS_ADVICE)
    if isinstance(known, IndexPathError) and not AccessDeniedException.instance_(thrown):
        return IndexWriteError(path, text(thrown), is_new=not holds_index(path))
    return known


_READ_LESS_ADVICE: Final = "ask for less at once"

_WRITE_LESS_ADVICE: Final = (
    "uncommitted changes were undone: try again in smaller parts, or with shorter documents"
)

_OUTSIDE_HEAP: Final = ("unable to create native thread", "Metaspace", "Compressed class space")
"""Beginnings of messages of `OutOfMemoryError` that a larger heap does not help against."""


def lacks_memory(thrown: Any) -> bool:
    """Check whether Java failed because its heap, or its other memory, is too small."""
    return OutOfMemoryError.instance_(thrown) or thrown.getMessage() == _NULL_VALUE


def lacks_a_class(error: BaseException | None) -> bool:
    """Check whether the cause of an error of `reading` is that Java could not initialize a class.

    Java never tries again, even if it only lacked memory the first time.
    """
    cause = error.__cause__ if error is not None else None
    return isinstance(cause, lucene.JavaError) and bool(
        NoClassDefFoundError.instance_(cause.getJavaException())
    )


_NULL_VALUE: Final = "value must not be null"
"""Message of Lucene for a field without text: JCC passes null if Java has no memory for it."""


def _unexpected_error(path: Path, thrown: Any, help_: str) -> McpLuceneError:
    if lacks_memory(thrown):
        if text(thrown).startswith(_OUTSIDE_HEAP):
            return LuceneError(
                f"the system refused Java more resources: {text(thrown)}",
                "raise the limits of this process (ulimit -a lists them), or end other programs",
                "ask the user to raise the limits of the server, or to end other programs",
            )
        return JavaHeapError(path, java_heap(), help_)
    kind = thrown.getClass().getName()
    return LuceneError(f"Lucene failed with {kind}: {text(thrown)}; please report this")


def _is_any(thrown: Any, *classes: Any) -> bool:
    return any(java_class.instance_(thrown) for java_class in classes)
