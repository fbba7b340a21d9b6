"""The build options a user may give (`pip install --config-settings=NAME=VALUE`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .errors import BuildError

ConfigSettings = Mapping[str, str | list[str]]


@dataclass(frozen=True)
class Options:
    """What the user decides about the wheel.

    `classes` is "listed" for the Java classes of classes.txt, or "all" for every public class
    of the Lucene jars.
    """

    classes: Literal["listed", "all"] = "listed"


def parse(settings: ConfigSettings | None) -> Options:
    """Read the settings of the build frontend.

    Args:
        settings: names and values as the frontend passes them on, None when there are none.

    Returns:
        The options, with defaults for what is not set.

    Raises:
        BuildError: a name or a value is unknown.
    """
    given = dict(settings or {})
    classes = given.pop("classes", "listed")
    if given:
        raise BuildError(f"unknown build option {min(given)!r}: the only one is 'classes'")
    if classes == "listed":
        return Options("listed")
    if classes == "all":
        return Options("all")
    raise BuildError(f"build option classes={classes!r} is unknown: use 'listed' or 'all'")
