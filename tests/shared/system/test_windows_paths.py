"""Paths and tags of Windows, whose rules hold on any system."""

import pytest

from shared.system.windows_paths import extended, is_link_tag


@pytest.mark.parametrize(
    ("path", "literal"),
    [
        ("C:\\docs\\a.txt", "\\\\?\\C:\\docs\\a.txt"),
        ("C:/docs/../other", "\\\\?\\C:\\other"),
        ("\\\\server\\share\\docs", "\\\\?\\UNC\\server\\share\\docs"),
        ("\\\\?\\C:\\docs", "\\\\?\\C:\\docs"),
        ("\\\\?\\C:\\docs\\.\\dot.", "\\\\?\\C:\\docs\\.\\dot."),
        ("\\\\.\\NUL", "\\\\.\\NUL"),
        ("C:\\" + "x" * 300, "\\\\?\\C:\\" + "x" * 300),
    ],
)
def test_a_path_is_written_so_that_windows_takes_it_literally(path: str, literal: str) -> None:
    assert extended(path) == literal


@pytest.mark.parametrize(
    ("tag", "is_link"),
    [
        (0xA000_000C, True),  # a symbolic link
        (0xA000_0003, True),  # a junction
        (0xA000_001D, True),  # a symbolic link of WSL
        (0x8000_001B, True),  # an app execution alias
        (0x9000_001A, False),  # a file of OneDrive
        (0x8000_0013, False),  # a deduplicated file
        (0x8000_0017, False),  # a compressed file of the system
        (0, False),
    ],
)
def test_only_what_stands_for_another_path_is_a_link(tag: int, is_link: bool) -> None:
    assert is_link_tag(tag) == is_link
