"""Numbers and bits in the header of a 7z archive."""

from typing import Final

_NO_NUMBER: Final = 1 << 63


class Reader:
    """Reader of the numbers and lists in a header, none of which may lead past its end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        """Number of bytes that follow."""
        return len(self._data) - self._at

    def take(self, count: int) -> bytes:
        """Read so many bytes.

        Raises:
            ValueError: there are fewer.
        """
        if not 0 <= count <= self.left:
            raise ValueError("its list of files ends too early")
        self._at += count
        return self._data[self._at - count : self._at]

    def byte(self) -> int:
        """Read a byte as a number."""
        return self.take(1)[0]

    def fixed(self, size: int) -> int:
        """Read a number of so many bytes, the least significant one first."""
        return int.from_bytes(self.take(size), "little")

    def number(self) -> int:
        """Read a number, whose first byte says by its leading ones how many bytes follow."""
        first = self.byte()
        following = 8 - (first ^ 0xFF).bit_length()
        high = first & (0x7F >> following)
        value = self.fixed(following) | high << (8 * following)
        if value >= _NO_NUMBER:
            raise ValueError("a number in it is too large")
        return value

    def count(self) -> int:
        """Read the number of things of which each takes a bit at least."""
        value = self.number()
        if value > 8 * self.left:
            raise ValueError("its list of files ends too early")
        return value

    def bits(self, count: int) -> list[bool]:
        """Read so many bits, eight a byte."""
        packed = self.take((count + 7) // 8)
        return [bool(packed[at // 8] >> (7 - at % 8) & 1) for at in range(count)]

    def defined(self, count: int) -> list[bool]:
        """Read for which of so many things there is a value; a byte may say that for all."""
        return [True] * count if self.byte() else self.bits(count)
