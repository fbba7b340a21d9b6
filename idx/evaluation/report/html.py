"""Report of an evaluation as a self-contained HTML page, without scripts and links."""

import html
from collections.abc import Iterable, Sequence
from typing import Final

from idx.evaluation.report import plots
from idx.evaluation.report.figures import (
    DIFFERENCE_COLUMNS,
    INTERVAL,
    difference_cells,
    figure,
    interval,
    other_figures,
    summary,
)
from idx.evaluation.results import Evaluation, QueryResult
from shared.control_characters import visible_line
from shared.messages import quantity

WORST: Final = 20
"""Number of queries listed for their low values."""

_STYLE: Final = """
body { font: 16px/1.5 sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: 0.25rem 0.75rem; border-bottom: 1px solid #ddd; text-align: left;
  vertical-align: top; }
td.figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
figure { margin: 1rem 0; }
svg { max-width: 100%; height: auto; }
"""


def html_report(evaluation: Evaluation) -> str:
    """Return the page, which is also well-formed XML; texts of the collection are escaped."""
    compared = bool(evaluation.differences)
    names = " and ".join(result.name for result in evaluation.configurations)
    parts = [
        "<h1>Evaluation of the search</h1>",
        _paragraph(
            f"{summary(evaluation)}; {quantity(evaluation.skipped_queries, 'query')} without a "
            f"relevant document skipped. Weights: {names}."
        ),
        "<h2>Measures</h2>",
        _measures(evaluation),
        _picture(plots.measures_plot(evaluation), "Means with their confidence intervals"),
    ]
    if compared:
        parts += [
            "<h2>Differences</h2>",
            _differences(evaluation),
            _picture(plots.differences_plot(evaluation), "Differences with their intervals"),
        ]
    parts += [
        "<h2>Queries</h2>",
        _picture(plots.histogram(evaluation), "How many queries have which nDCG@10"),
    ]
    if compared:
        parts += [
            _picture(
                plots.query_differences_plot(evaluation),
                "The difference of each query: blue better, red worse",
            ),
            "<h3>Most changed</h3>",
            _queries(evaluation, evaluation.changed_queries),
        ]
    worst = sorted(evaluation.queries, key=lambda query: query.ndcg[-1])[:WORST]
    parts += ["<h3>Worst</h3>", _queries(evaluation, worst)]
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        f"<title>Evaluation of the search</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _measures(evaluation: Evaluation) -> str:
    results = evaluation.configurations
    columns = [title for result in results for title in (result.name, INTERVAL)]
    rows = [
        [
            measures[0].measure,
            *(
                cell
                for measure in measures
                for cell in (figure(measure.mean), interval(measure.low, measure.high))
            ),
        ]
        for measures in zip(*(result.measures for result in results), strict=True)
    ]
    others = [
        [figures[0][0], *(cell for _, value in figures for cell in (value, ""))]
        for figures in zip(*map(other_figures, results), strict=True)
    ]
    return _table(["Measure", *columns], [*rows, *others])


def _differences(evaluation: Evaluation) -> str:
    return _table(
        ["Measure", *DIFFERENCE_COLUMNS],
        (
            [difference.measure, *difference_cells(difference)]
            for difference in evaluation.differences
        ),
    )


def _queries(evaluation: Evaluation, queries: Sequence[QueryResult]) -> str:
    names = [result.name for result in evaluation.configurations]
    return _table(
        ["Query", *(f"nDCG@10, {name}" for name in names), "Text"],
        ([query.id, *map(figure, query.ndcg), query.text] for query in queries),
        text_columns=(0, len(names) + 1),
    )


def _table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, text_columns: Sequence[int] = (0,)
) -> str:
    head = "".join(f"<th>{_escaped(column)}</th>" for column in columns)
    body = "\n".join(
        "<tr>"
        + "".join(
            f"<td>{_escaped(cell)}</td>"
            if number in text_columns
            else f'<td class="figure">{_escaped(cell)}</td>'
            for number, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _picture(svg: str, caption: str) -> str:
    return f"<figure>\n{svg}<figcaption>{_escaped(caption)}</figcaption>\n</figure>"


def _paragraph(text: str) -> str:
    return f"<p>{_escaped(text)}</p>"


def _escaped(text: str) -> str:
    return html.escape(visible_line(text, keep_directions=True))
