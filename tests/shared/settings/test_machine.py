"""How much memory a process may use in a container or a service."""

from pathlib import Path

import pytest

from shared.settings import defaults
from shared.settings.defaults import DEFAULT_JAVA_HEAP, default_java_heap
from shared.system import memory_bytes

MACHINE = memory_bytes()


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({}, MACHINE),
        ({"": "max\n"}, MACHINE),
        ({"": "300000000\n"}, 300_000_000),
        ({"user/search": "200000000\n", "user": "max\n"}, 200_000_000),
        # A group has no more than those that it is part of.
        ({"user/search": "200000000\n", "user": "100000000\n"}, 100_000_000),
        ({"user": "200000000\n", "user/other": "100000000\n"}, 200_000_000),
        ({"": f"{2 * MACHINE}\n"}, MACHINE),
    ],
)
def test_the_least_limit_holds(tmp_path: Path, limits: dict[str, str], expected: int) -> None:
    own = tmp_path / "cgroup"
    own.write_text("1:cpu:/elsewhere\n0::/user/search\n")
    groups = tmp_path / "groups"
    for name, limit in limits.items():
        (groups / name).mkdir(parents=True, exist_ok=True)
        (groups / name / "memory.max").write_text(limit)
    # What lies above the mounted groups is none.
    (tmp_path / "memory.max").write_text("1\n")
    assert defaults.usable_bytes(groups, own) == expected


def test_a_system_without_control_groups_has_the_memory_of_the_machine(tmp_path: Path) -> None:
    assert defaults.usable_bytes(tmp_path, tmp_path / "cgroup") == MACHINE


def test_a_process_in_groups_of_the_first_version_only_has_the_limit_of_the_root(
    tmp_path: Path,
) -> None:
    own = tmp_path / "cgroup"
    own.write_text("1:cpu:/elsewhere\n")
    (tmp_path / "memory.max").write_text("300000000\n")
    assert defaults.usable_bytes(tmp_path, own) == 300_000_000


@pytest.mark.parametrize(
    ("megabytes", "heap"), [(8_192, DEFAULT_JAVA_HEAP), (600, 300), (1_024, 512), (8, 16)]
)
def test_the_heap_is_half_of_the_memory_at_most(
    monkeypatch: pytest.MonkeyPatch, megabytes: int, heap: int
) -> None:
    monkeypatch.setattr(defaults, "usable_bytes", lambda: megabytes * 2**20)
    assert default_java_heap() == heap
