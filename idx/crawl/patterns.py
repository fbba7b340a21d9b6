"""Patterns of a ``.gitignore``, matched fast enough for every file of a large folder.

They come from strangers' folders, too, so none may take long: where `pathspec` writes an
expression that would try every way to share a path among several wildcards, each wildcard here
takes the first way there is, which is always as good.
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
"""What `pathspec` makes of ``*``, of ``**/`` at the beginning, and of ``/**/``."""


class Patterns:
    """A list of patterns in the syntax of git, the last one that matches decides.

    Args:
        lines: the patterns; comments, blank lines and invalid patterns among them do nothing.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        with warnings.catch_warnings():
            # Of brackets that Python may read otherwise in some future.
            warnings.simplefilter("ignore", FutureWarning)
            patterns = list(_compiled(lines))
            self._spec = GitIgnoreSpec(patterns)
            # Most paths match no pattern at all, which one expression tells ten times faster.
            expressions = (pattern.regex.pattern for pattern in patterns if pattern.regex)
            self._any: Final = re.compile(
                "|".join(_GROUP_NAME.sub("(?:", text) for text in expressions) or r"(?!)",
                re.DOTALL,
            )

    def verdict(self, path: str) -> bool | None:
        """Whether a path is taken away (True) or given back (False); None if nothing matches.

        Args:
            path: relative to the folder of the patterns, with slashes, a folder's with one at
                its end.
        """
        if not self._any.match(path):
            return None
        return self._spec.check_file(path).include


def check(patterns: Iterable[str]) -> None:
    """Make sure that patterns of the user's own are some: one that does nothing is a mistake.

    Raises:
        ConfigurationError: one is not.
    """
    for pattern in patterns:
        if not [*_compiled([pattern])]:
            raise ConfigurationError(
                f"the pattern {pattern!r}", "is not one as in a .gitignore, such as *.md or /old/"
            )


def _compiled(lines: Iterable[str]) -> Iterator[GitIgnoreSpecPattern]:
    for line in lines:
        try:
            regex, include = GitIgnoreSpecPattern.pattern_to_regex(line)
            if regex is not None:
                yield GitIgnoreSpecPattern(re.compile(_bounded(regex), re.DOTALL), include)
        except (ValueError, re.error):
            # Git passes over what is no pattern.
            continue


def _bounded(regex: str) -> str:
    """The same expression with the steps bounded by the lengths of pattern and path."""
    if not regex.startswith("^"):
        return f"^.*{regex}"
    first, *pieces = regex.split(_STAR)
    # Up to the last star of a name, the first place of what follows leaves most for the rest.
    regex = first + "".join(
        f"{_STAR}{piece}" if "/" in piece.replace("[^/]", "") else f"(?>{_STAR}?{piece})"
        for piece in pieces
    )
    # The same for the folders between two of any number of others.
    first, *blocks = regex.split(_INNER_FOLDERS)
    if not blocks:
        return regex
    if first.startswith(_OUTER_FOLDERS):
        first = f"^(?>(?:.+?/)??{first.removeprefix(_OUTER_FOLDERS)}(?=/))"
    middle = "".join(f"(?>(?:/.+?)??{block}(?=/))" for block in blocks[:-1])
    return f"{first}{middle}{_INNER_FOLDERS}{blocks[-1]}"
