"""Terms and scores of queries on a cluster, for the explanation of a search."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from shared.model.search_results import ExplainedTerm
from shared.opensearch.search.selection import ClusterSelection
from shared.opensearch.storage import layout
from shared.query.tree import Node, TermPhrase, Terms, leaves
from shared.search.explanation import Explainer
from shared.search.selection import RankedHit


class ClusterExplanation:
    """How a score is made, as the cluster explains it.

    Args:
        explanation: the explanation in its answer.
    """

    def __init__(self, explanation: Mapping[str, Any]) -> None:
        self._explanation = explanation

    @property
    def description(self) -> str:
        """A sentence on the rule, with the names of the schema's fields."""
        return layout.readable(self._explanation["description"])

    @property
    def score(self) -> float:
        """The value; 0 of what does not match."""
        return float(self._explanation["value"])

    @cached_property
    def details(self) -> "list[ClusterExplanation]":
        """The explanations of the values that the rule takes."""
        return [ClusterExplanation(part) for part in self._explanation["details"]]


class ClusterExplainer(Explainer):
    """A cluster, as it explains the scores of a selection.

    Args:
        selection: the selection.
    """

    def __init__(self, selection: ClusterSelection) -> None:
        self._selection = selection

    def terms(self, tree: Node) -> list[ExplainedTerm]:
        """Return the terms of a tree that some chunk has; those of its patterns are not known."""
        found: dict[tuple[str, str], None] = {}
        for leaf in leaves(tree):
            match leaf:
                case Terms(field, texts):
                    found.update(dict.fromkeys((field, text) for text in texts))
                case TermPhrase(field, positions):
                    found.update(dict.fromkeys((field, t) for texts in positions for t in texts))
        counts = self._selection.terms.frequencies(found)
        return [ExplainedTerm(*pair, count) for pair, count in counts.items() if count]

    def scores(self, hits: Sequence[RankedHit]) -> list[ClusterExplanation]:
        """Return how the score of each hit by words is made."""
        return [ClusterExplanation(found) for found in self._selection.explained(hits)]
