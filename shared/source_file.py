"""The file that a document was made of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file was like when its document was made.

    Attributes:
        folder: the prefix of the indexed folder that it lies in; None for a file that was named
            by itself.
        size: bytes.
        modified_ns: time of the last change, in nanoseconds since 1970; 0 where the file was
            read so shortly after it that a later change may bear the same time.
        content_hash: SHA-256 of the bytes, hexadecimal.
        other_volume: whether it lay on another volume than the folder itself.
    """

    folder: str | None
    size: int
    modified_ns: int
    content_hash: str
    other_volume: bool = False


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file and its state.

    Attributes:
        path: relative to the indexed folder, with slashes; absolute where there is no folder.
        state: the state in which it was read.
    """

    path: str
    state: FileState
