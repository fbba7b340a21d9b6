"""Rewriting a query into concise English by a language model, and what becomes of its answer.

Both queries are searched. Whatever goes wrong, the original is searched alone, and a diagnostic
tells why: a search never fails because of its language model. What a model says is text to search
for and nothing else: it is never read as syntax, and an answer that is no list of words is refused.
"""

import unicodedata
from dataclasses import dataclass
from typing import Final, Protocol

from shared.errors import ExtraMissingError, LanguageModelError
from shared.model.request import Syntax
from shared.query.syntax import is_plain
from shared.rewriting.kept_words import survives, verbatim, without_inventions

LONGEST_QUERY: Final = 1_000
"""Characters of a query that is rewritten; a longer one is a text rather than a question."""

LONGEST_ANSWER: Final = 400
"""Characters of a concise query."""

_TIMES_LONGER: Final = 4
_SHORT: Final = 100
"""Characters of an answer that may be longer than `_TIMES_LONGER` times the query."""

_AROUND: Final = " \t\r\n\"'`*“”„«»"
"""What models put around an answer."""


class LanguageModel(Protocol):
    """What rewrites a query."""

    async def rewrite(self, query: str) -> str:
        """What the model makes of a query, as it says it.

        Raises:
            LanguageModelError: it says nothing that could be used, or not in time.
            ExtraMissingError: what asks it is not installed.
        """


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What came of rewriting a query.

    Attributes:
        rewritten: the query to be searched beside the original; None if there is none.
        diagnostic: why there is none, in a sentence; None if there is nothing to report.
        client_diagnostic: the same for a client of the server.
    """

    rewritten: str | None = None
    diagnostic: str | None = None
    client_diagnostic: str | None = None

    @property
    def diagnostics(self) -> list[str] | None:
        """The diagnostic as answers have it."""
        return [self.diagnostic] if self.diagnostic else None


async def normalize(query: str, model: LanguageModel, syntax: Syntax = "auto") -> Rewriting:
    """Rewrite a query, unless it is blank.

    Args:
        query: what was typed.
        model: what rewrites it.
        syntax: how the query is read; one that has syntax in it stays as it is.
    """
    if not query.strip():
        return Rewriting()
    try:
        _check_query(query, syntax)
        return Rewriting(_checked(await model.rewrite(query), query))
    except (LanguageModelError, ExtraMissingError) as error:
        return Rewriting(
            diagnostic=f"The query was not rewritten: {error}.",
            client_diagnostic=f"The query was not rewritten: {error.for_client}.",
        )


def _check_query(query: str, syntax: Syntax) -> None:
    """Refuse a query that rewriting would make worse, before a model is asked.

    Raises:
        LanguageModelError: it is one.
    """
    if not is_plain(query, syntax):
        raise LanguageModelError("it has syntax in it")
    if len(query) > LONGEST_QUERY:
        raise LanguageModelError(f"it is longer than {LONGEST_QUERY:,} characters")


def _checked(answer: str, query: str) -> str:
    """The rewritten query that an answer holds, with everything that must survive.

    Raises:
        LanguageModelError: there is none.
    """
    text = answer.strip(_AROUND)
    if not text:
        raise LanguageModelError("the answer of the language model is blank")
    if len(text) > max(_SHORT, min(LONGEST_ANSWER, _TIMES_LONGER * len(query))):
        raise LanguageModelError("the answer of the language model is too long for a query")
    # Line breaks are among them: a query is one line, and several are an explanation.
    if any(unicodedata.category(character).startswith("C") for character in text):
        raise LanguageModelError(
            "the answer of the language model has several lines or control characters"
        )
    kept = without_inventions(text, query)
    lost = [part for part in verbatim(query) if not survives(part, kept)]
    rewritten = " ".join((*kept.split(), *lost))
    if not any(map(str.isalnum, kept)) or _alike(rewritten) == _alike(query):
        raise LanguageModelError("the language model has no other words for it")
    return rewritten


def _alike(text: str) -> list[str]:
    """The words of a text, the same for texts that differ in case and punctuation only."""
    words = ("".join(filter(str.isalnum, word)) for word in text.casefold().split())
    return [word for word in words if word]
