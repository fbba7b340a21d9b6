"""Patterns of a ``.gitignore``, matched fast enough for every file of a large folder.

Folders of strangers have patterns, too, so no pattern may take long. `pathspec` writes regular
expressions that backtrack over every way to divide a path among several wildcards; here each
wildcard takes its first match, which is always as good.
"""

import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Final

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from shared.errors import ConfigurationError

_GROUP_NAME: Final = re.compile(r"\(\?P<\w+>")

_STAR: Final = "[^/]*"
_OUTER_FOLDERS: Final = "^(?:.+/)?"
_INNER_FOLDERS: Final = "(?:/.+)?"
"""Expressions of `pathspec` for ``*``, for ``**/`` at the beginning, and for ``/**/``."""


class Patterns:
    """List of patterns in the syntax of git; the last matching one decides."""

    def __init__(self, lines: Iterable[str]) -> None:
        with warnings.catch_warnings():
            # Python warns of brackets whose meaning may change in a future version.
            warnings.simplefilter("ignore", FutureWarning)
            patterns = list(_compiled(lines))
            self._spec = GitIgnoreSpec(patterns)
            # Most paths match no pattern, which a single expression detects ten times faster.
            expressions = (pattern.regex.pattern for pattern in patterns if pattern.regex)
            self._any: Final = re.compile(
                "|".join(_GROUP_NAME.sub("(?:", text) for text in expressions) or r"(?!)", re.DOTALL
            )

    def verdict(self, path: str) -> bool | None:
        """Return if a path is excluded (True) or included again (False); None without a match."""
        if not self._any.match(path):
            return None
        return self._spec.check_file(path).include


def check(patterns: Iterable[str]) -> None:
    """Check that each pattern given by the user is valid, since one without effect is a mistake."""
    for pattern in patterns:
        if not [*_compiled([pattern])]:
            raise ConfigurationError(
                f"the pattern {pattern!r}",
                "is not a valid .gitignore pattern, such as *.md or /old/",
            )


def _compiled(lines: Iterable[str]) -> Iterator[GitIgnoreSpecPattern]:
    for line in lines:
        try:
            regex, include = GitIgnoreSpecPattern.pattern_to_regex(line)
            if regex is not None:
                yield GitIgnoreSpecPattern(re.compile(_bounded(regex), re.DOTALL), include)
        except (ValueError, re.error):
            # Git ignores invalid patterns.
            continue


def _bounded(regex: str) -> str:
    """Rewrite an expression so that its steps are bounded by the lengths of pattern and path."""
    if not regex.startswith("^"):
        return f"^.*{regex}"
    first, *pieces = regex.split(_STAR)
    # Up to the last star of a name, the first match of the next piece leaves most for the rest.
    regex = first + "".join(
        f"{_STAR}{piece}" if "/" in piece.replace("[^/]", "") else f"(?>{_STAR}?{piece})"
        for piece in pieces
    )
    # The same applies to folders between two ``**``.
    first, *blocks = regex.split(_INNER_FOLDERS)
    if not blocks:
        return regex
    if first.startswith(_OUTER_FOLDERS):
        first = f"^(?>(?:.+?/)??{first.removeprefix(_OUTER_FOLDERS)}(?=/))"
    middle = "".join(f"(?>(?:/.+?)??{block}(?=/))" for block in blocks[:-1])
    return f"{first}{middle}{_INNER_FOLDERS}{blocks[-1]}"
