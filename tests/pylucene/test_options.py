"""Build options: what is accepted, and what an unknown one is answered."""

import pytest
from backend.console import BuildError
from backend.wheel import Options, parse_options


@pytest.mark.parametrize("settings", [None, {}, {"classes": "listed"}])
def test_the_listed_classes_are_wrapped_by_default(settings: dict[str, str] | None) -> None:
    assert parse_options(settings) == Options(classes="listed")


def test_the_whole_api_can_be_asked_for() -> None:
    assert parse_options({"classes": "all"}) == Options(classes="all")


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(BuildError, match="unknown build option 'clases'"):
        parse_options({"clases": "all"})


@pytest.mark.parametrize("value", ["some", "", ["all", "listed"]])
def test_an_unknown_value_is_answered_with_the_known_ones(value: str | list[str]) -> None:
    with pytest.raises(BuildError, match="use 'listed' or 'all'"):
        parse_options({"classes": value})


def test_the_wheel_of_another_platform_can_be_asked_for() -> None:
    found = parse_options({"platform": "win_amd64"}).platform
    assert found is not None
    assert (found.tag, found.extension) == ("win_amd64", ".pyd")


@pytest.mark.parametrize("value", ["linux", "", ["win_amd64", "macosx_11_0_arm64"]])
def test_an_unknown_platform_is_answered_with_the_known_ones(value: str | list[str]) -> None:
    with pytest.raises(BuildError, match=r"is unknown: use one of manylinux_2_17_x86_64, .*win_"):
        parse_options({"platform": value})
