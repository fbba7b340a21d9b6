"""The build options a user may give (`pip install --config-settings=NAME=VALUE`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from . import platforms
from .console import BuildError
from .platforms import Platform

ConfigSettings = Mapping[str, str | list[str]]


@dataclass(frozen=True)
class Options:
    """What the user decides about the wheel."""

    classes: Literal["listed", "all"] = "listed"  # those of classes.txt, or all public ones
    platform: Platform | None = None  # None for this machine's


def parse(settings: ConfigSettings | None) -> Options:
    """Read the settings of the build frontend."""
    given = dict(settings or {})
    classes = given.pop("classes", "listed")
    tag = given.pop("platform", None)
    if given:
        raise BuildError(
            f"unknown build option {min(given)!r}: there are only 'classes' and 'platform'"
        )
    platform = None if tag is None else platforms.named(str(tag))
    if classes == "listed":
        return Options("listed", platform)
    if classes == "all":
        return Options("all", platform)
    raise BuildError(f"build option classes={classes!r} is unknown: use 'listed' or 'all'")
