"""What becomes of a query, for people."""

from idx.tables import print_table
from shared.model.search_results import QueryExplanation


def print_explanation(explanation: QueryExplanation) -> None:
    """Print what was understood, and as much of the rest as there is."""
    languages = ", ".join(f"{code} ({weight})" for code, weight in explanation.languages.items())
    summary = [
        ("understood", explanation.parsed),
        ("chunks that match", f"{explanation.total_hits:,}"),
        ("languages (weight)", languages or "-"),
    ]
    if explanation.note:
        summary.append(("note", explanation.note))
    print_table(["", ""], summary, headings=False)
    if explanation.steps:
        print_table(["step", "query"], [(step.step, step.query) for step in explanation.steps])
    if explanation.terms:
        print_table(
            ["field", "term", "chunks"],
            [(term.field, term.term, f"{term.document_frequency:,}") for term in explanation.terms],
        )
    for hit in explanation.hits:
        parts = [(part.match, f"{part.score:.3f}") for part in hit.parts]
        print_table([hit.id, f"{hit.score:.3f}"], parts)
