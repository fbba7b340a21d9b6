"""How many of the first hits should decide whether there is an answer."""

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from benchmarks.calibration import Asked
from benchmarks.confidence_questions import HITS, Asking
from shared.search.confidence import FIRST_HITS, LOW, probability

DECIDING: Final = (1, 2, FIRST_HITS, 5, HITS)

Pairs = Sequence[tuple[float, float]]


def _confidences(pairs: Pairs) -> list[float]:
    return [probability(*pair) for pair in pairs]


def is_low(asked: Asked, first_hits: int = FIRST_HITS) -> bool:
    """Whether an answer is of low confidence if so many of its first hits decide."""
    return best_confidence(asked, first_hits=first_hits) < LOW


def best_confidence(
    asked: Asked,
    confidences: Callable[[Pairs], Iterable[float]] = _confidences,
    first_hits: int = FIRST_HITS,
) -> float:
    """The greatest confidence of the first hits of a query; 0 if there are none.

    Args:
        asked: the query.
        confidences: makes them of the evidence of hits.
        first_hits: how many there are.
    """
    first = asked.evidence[:first_hits]
    return max(confidences(first)) if first else 0.0


def first_hits_table(askings: Mapping[str, Asking]) -> Iterator[str]:
    """How many answers of each collection are of low confidence, by the hits that decide."""
    numbers = " | ".join(f"first {number}" if number > 1 else "first" for number in DECIDING)
    yield f"| asked | questions | {numbers} |"
    yield f"|---|---:|{'---:|' * len(DECIDING)}"
    for name, asking in askings.items():
        answered = [asked for asked in asking.queries if any(asked.relevant[:FIRST_HITS])]
        yield _row(f"{name}: queries with an answer among the first three", answered)
        others = [asked for asked in asking.queries if not any(asked.relevant[:FIRST_HITS])]
        yield _row(f"{name}: its other queries", others)
        yield _row(f"{name}: questions on other topics", asking.all_off_topic)


def order_table(askings: Mapping[str, Asking]) -> Iterator[str]:
    """How good the first ten hits of each collection are, by score and by confidence."""
    yield f"| first ten by | {' | '.join(f'{name}: P@3 | 1/rank' for name in askings)} |"
    yield f"|---|{'---:|---:|' * len(askings)}"
    for order in ("score", "confidence"):
        cells = []
        for asking in askings.values():
            answers = [_in_order(asked, by_score=order == "score") for asked in asking.queries]
            precision = statistics.mean(sum(answer[:FIRST_HITS]) / FIRST_HITS for answer in answers)
            ranks = (1 / (1 + answer.index(True)) if any(answer) else 0.0 for answer in answers)
            cells.append(f"{precision:.3f} | {statistics.mean(ranks):.3f}")
        yield f"| {order} | {' | '.join(cells)} |"


def _in_order(asked: Asked, *, by_score: bool) -> list[bool]:
    """Return which hits of a query are relevant, in an order of theirs."""
    hits = list(zip(_confidences(asked.evidence), asked.relevant, strict=True))
    if not by_score:
        hits.sort(key=lambda hit: -hit[0])
    return [is_relevant for _, is_relevant in hits]


def _row(name: str, asked: Sequence[Asked]) -> str:
    shares = (statistics.mean(is_low(one, number) for one in asked) for number in DECIDING)
    return f"| {name} | {len(asked)} | {' | '.join(f'{share:.0%}' for share in shares)} |"
