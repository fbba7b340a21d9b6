"""Configurations of the search for a comparison: the default weights, and changed ones."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

from shared.messages import did_you_mean
from shared.model.request import Search
from shared.model.weights import DEFAULT_WEIGHTS, Weights

_MAX_WEIGHTS: Final = {"b": 1.0}
"""Maximum values of weights with an upper limit, above which Lucene raises an error."""


class InvalidSettingError(ValueError):
    """A setting is not the name of a weight with a valid number."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Weights of a search and its way to rank, and their name in reports."""

    name: str
    weights: Weights = DEFAULT_WEIGHTS
    search: Search = "both"


DEFAULT = Configuration("default")

BOTH = Configuration("both")
"""Search by words and meaning, compared with one of them."""


def changed(settings: Sequence[str]) -> Configuration:
    """Return the default configuration with some weights changed.

    Args:
        settings: the changes, each as ``NAME=VALUE``.

    Raises:
        InvalidSettingError: there is no such weight, or the value is not a valid number for it.
    """
    values = dict(_parse(setting) for setting in settings)
    name = ", ".join(f"{weight}={value:g}" for weight, value in values.items())
    return Configuration(name, replace(DEFAULT_WEIGHTS, **values))


def _parse(setting: str) -> tuple[str, float]:
    name, equals, text = (part.strip() for part in setting.partition("="))
    if not equals:
        raise InvalidSettingError(f"{setting!r} is not NAME=VALUE")
    known = [field.name for field in fields(Weights)]
    if name not in known:
        hint = did_you_mean(name, known, f"the weights are {', '.join(known)}")
        raise InvalidSettingError(f"there is no weight {name!r}; {hint}")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    most = _MAX_WEIGHTS.get(name, math.inf)
    if not (math.isfinite(value) and 0 <= value <= most):
        to = "" if most == math.inf else f" to {most:g}"
        raise InvalidSettingError(f"{name} is {text!r}, which is not a number from 0{to}")
    return name, value
