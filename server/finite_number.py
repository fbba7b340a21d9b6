"""Numbers of options that bounds cannot check: not a number is on neither side of one."""

from math import isfinite

import typer


def finite(value: float) -> float:
    """The value of an option, for its callback.

    Raises:
        BadParameter: it is infinite, or not a number.
    """
    if not isfinite(value):
        raise typer.BadParameter(f"{value} is not finite")
    return value
