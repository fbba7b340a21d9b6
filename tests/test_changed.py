"""`make quick` runs the tests that belong to what was changed."""

from pathlib import Path

import pytest

from tests.changed import FAST, ROOT, own_tests


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("shared/model/request.py", ["tests/shared/model/test_request.py"]),
        ("tests/shared/test_messages.py", ["tests/shared/test_messages.py"]),
        ("idx/commands/browse.py", ["tests/idx/test_commands.py"]),
        ("server/tools/connector.py", ["tests/server/test_connector.py"]),
        ("server/pages/status.py", ["tests/server/pages"]),
        ("shared/java/vm.py", ["tests/shared/java"]),
        ("docs/searching.md", ["tests/test_documentation.py"]),
        ("shared/__init__.py", []),
        ("pyproject.toml", []),
    ],
)
def test_a_change_has_its_tests(changed: str, tests: list[str]) -> None:
    assert [str(found) for found in own_tests(Path(changed))] == tests


def test_the_fast_tests_exist() -> None:
    assert all((ROOT / folder).is_dir() for folder in FAST)
