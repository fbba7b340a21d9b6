"""Report of an evaluation as tables of text."""

from idx.evaluation.report.figures import (
    DIFFERENCE_COLUMNS,
    INTERVAL,
    change,
    difference_cells,
    figure,
    interval,
    other_figures,
    summary,
)
from idx.evaluation.results import ConfigurationResult, Evaluation
from idx.evaluation.search_settings import DEFAULT
from idx.output.printing import tell
from idx.output.tables import print_table


def print_report(evaluation: Evaluation) -> None:
    """Print an evaluation on stdout."""
    tell(summary(evaluation))
    if evaluation.differences:
        first, second = evaluation.configurations
        before = "the default weights" if first.name == DEFAULT.name else f"search by {first.name}"
        tell(f"Compared: {before}, and {second.name}")
        _print_comparison(evaluation)
        if evaluation.changed_queries:
            tell("Queries whose nDCG@10 changed most:")
            _print_changed(evaluation)
    else:
        _print_measures(evaluation.configurations[0])


def _print_measures(result: ConfigurationResult) -> None:
    rows = [
        [measure.measure, figure(measure.mean), interval(measure.low, measure.high)]
        for measure in result.measures
    ]
    others = [[*row, ""] for row in other_figures(result)]
    print_table(["Measure", "Mean", INTERVAL], [*rows, *others])


def _print_comparison(evaluation: Evaluation) -> None:
    first, second = evaluation.configurations
    rows = [
        [
            difference.measure,
            # Without the intervals of the means, which may overlap even if the difference is
            # certain.
            figure(before.mean),
            figure(after.mean),
            *difference_cells(difference),
        ]
        for before, after, difference in zip(
            first.measures, second.measures, evaluation.differences, strict=True
        )
    ]
    nothing = [""] * len(DIFFERENCE_COLUMNS)
    others = [
        [name, before, after, *nothing]
        for (name, before), (_, after) in zip(
            other_figures(first), other_figures(second), strict=True
        )
    ]
    print_table(["Measure", *_names(evaluation), *DIFFERENCE_COLUMNS], [*rows, *others])


def _names(evaluation: Evaluation) -> tuple[str, str]:
    """Return the headings of the two compared configurations."""
    first, second = evaluation.configurations
    if first.name == DEFAULT.name:
        return "Default", "Changed"
    return first.name.capitalize(), second.name.capitalize()


def _print_changed(evaluation: Evaluation) -> None:
    print_table(
        ["Query", *_names(evaluation), "Difference", "Text"],
        [
            [query.id, *map(figure, query.ndcg), change(query.difference), query.text]
            for query in evaluation.changed_queries
        ],
    )
