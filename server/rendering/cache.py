"""Cache of pictures, bounded in bytes, and of pages that cost too much to try again soon."""

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from server.rendering.page import FileStamp, PageRequest, Picture, Unrendered

MAX_CACHED_BYTES: Final = 64_000_000
"""Maximum size of all cached pictures together, in bytes; a hundred at least."""

_MAX_KNOWN_FILES: Final = 1_000
"""Maximum number of files whose content hash is remembered, and of pages that failed."""

FAILURE_SECONDS: Final = 300.0
"""Time for which a page that took too much time or memory is not tried again, in seconds."""

_Key = tuple[str, int, tuple[str, ...], int]
"""Content hash, page, marked words, and maximum number of pixels."""


@dataclass(slots=True)
class PictureCache:
    """Pictures by the content of their file, the least recently used ones of which are dropped."""

    _pictures: OrderedDict[_Key, Picture] = field(default_factory=OrderedDict)
    _hashes: OrderedDict[FileStamp, str] = field(default_factory=OrderedDict)
    _failures: OrderedDict[tuple[FileStamp, int], tuple[Unrendered, float]] = field(
        default_factory=OrderedDict
    )
    _bytes: int = 0

    def get(self, request: PageRequest, stamp: FileStamp) -> Picture | Unrendered | None:
        """Return the picture of a page of a file in this state, or its failure, if known."""
        failure, until = self._failures.get((stamp, request.page), (None, 0.0))
        if time.monotonic() < until:
            return failure
        content_hash = self._hashes.get(stamp)
        if content_hash is None:
            return None
        self._hashes.move_to_end(stamp)
        key = _key(request, content_hash)
        if (picture := self._pictures.get(key)) is not None:
            self._pictures.move_to_end(key)
        return picture

    def put(self, request: PageRequest, stamp: FileStamp, picture: Picture | Unrendered) -> None:
        """Keep a picture, or a costly failure.

        Args:
            request: the request that it answers.
            stamp: the state of the file before it was read.
            picture: the picture.
        """
        if isinstance(picture, Unrendered):
            if picture.is_costly and stamp.is_settled:
                until = time.monotonic() + FAILURE_SECONDS
                self._failures[stamp, request.page] = picture, until
                if len(self._failures) > _MAX_KNOWN_FILES:
                    self._failures.popitem(last=False)
            return
        if stamp.is_settled:
            self._hashes[stamp] = picture.content_hash
            if len(self._hashes) > _MAX_KNOWN_FILES:
                self._hashes.popitem(last=False)
        key = _key(request, picture.content_hash)
        replaced = self._pictures.pop(key, None)
        self._pictures[key] = picture
        self._bytes += len(picture.png) - (len(replaced.png) if replaced else 0)
        while self._bytes > MAX_CACHED_BYTES:
            _, dropped = self._pictures.popitem(last=False)
            self._bytes -= len(dropped.png)


def _key(request: PageRequest, content_hash: str) -> _Key:
    return content_hash, request.page, request.words, request.max_pixels
