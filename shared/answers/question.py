"""Questions, and the searches for passages that may answer them."""

from collections.abc import Sequence
from typing import Final

from shared.errors import QueryError
from shared.model.filters import Filter
from shared.model.request import SearchRequest

DEFAULT_TOP_K: Final = 6
"""Number of passages that a model is given. With the instructions they take 2,000 to 3,000 tokens;
small local models often have room for 4,096 with the answer."""

MAX_TOP_K: Final = 20
"""Maximum number of passages: more make models overlook some, and take long to read."""

MAX_QUESTION_CHARACTERS: Final = 1_000
"""Maximum length of a question in characters; a longer one is a text."""


def search_for(
    question: str,
    *,
    top_k: int = DEFAULT_TOP_K,
    filters: Sequence[Filter] = (),
    rewritten: str | None = None,
) -> SearchRequest:
    """Return the search for passages that may answer a question."""
    if not any(map(str.isalnum, question)):
        raise QueryError("the question is blank; ask something such as: how long is the notice?")
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise QueryError(
            f"the question is longer than {MAX_QUESTION_CHARACTERS:,} characters; shorten it"
        )
    if not 1 <= top_k <= MAX_TOP_K:
        raise ValueError(f"top_k is out of range: {top_k}")
    return SearchRequest(
        question.strip(),
        limit=top_k,
        filters=filters,
        syntax="plain",
        content="full",
        rewritten=rewritten,
    )
