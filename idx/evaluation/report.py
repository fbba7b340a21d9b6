"""Reports of evaluations as tables of text on stdout."""

from idx.evaluation.answers import AnswerEvaluation
from idx.evaluation.experiment import DEFAULT, ConfigurationResult, Evaluation
from idx.output.printing import print_table, tell
from shared.messages import quantity

_INTERVAL = "95 % interval"
_DIFFERENCE_COLUMNS = ("Difference", _INTERVAL, "Better", "Equal", "Worse")


def figure(value: float) -> str:
    return f"{value:.3f}"


def change(value: float) -> str:
    return f"{value:+.3f}"


def print_report(evaluation: Evaluation) -> None:
    tell(
        f"{quantity(evaluation.documents, 'document')}; "
        f"{quantity(evaluation.evaluated_queries, 'query')}, "
        f"{quantity(evaluation.limit, 'document')} retrieved for each"
    )
    if not evaluation.differences:
        (result,) = evaluation.configurations
        rows = [
            [each.measure, figure(each.mean), f"[{each.low:.3f}, {each.high:.3f}]"]
            for each in result.measures
        ]
        others = [[*row, ""] for row in _other_figures(result)]
        print_table(["Measure", "Mean", _INTERVAL], [*rows, *others])
        return
    first, second = evaluation.configurations
    is_default = first.name == DEFAULT.name
    before = "the default weights" if is_default else f"search by {first.name}"
    names = ("Default", "Changed") if is_default else (first.name.title(), second.name.title())
    tell(f"Compared: {before}, and {second.name}")
    _print_comparison(evaluation, names)
    if evaluation.changed_queries:
        tell("Queries whose nDCG@10 changed most:")
        print_table(
            ["Query", *names, "Difference", "Text"],
            [
                [query.id, *map(figure, query.ndcg), change(query.difference), query.text]
                for query in evaluation.changed_queries
            ],
        )


def _print_comparison(evaluation: Evaluation, names: tuple[str, str]) -> None:
    first, second = evaluation.configurations
    rows = [
        [
            each.measure,
            # Without the intervals of the means, which may overlap even if the difference is
            # certain.
            figure(before.mean),
            figure(after.mean),
            change(each.mean),
            f"[{each.low:+.3f}, {each.high:+.3f}]",
            *(f"{share:.0%}" for share in (each.better, each.equal, each.worse)),
        ]
        for before, after, each in zip(
            first.measures, second.measures, evaluation.differences, strict=True
        )
    ]
    others = [
        [name, before, after, *[""] * len(_DIFFERENCE_COLUMNS)]
        for (name, before), (_, after) in zip(
            _other_figures(first), _other_figures(second), strict=True
        )
    ]
    print_table(["Measure", *names, *_DIFFERENCE_COLUMNS], [*rows, *others])


def _other_figures(result: ConfigurationResult) -> list[tuple[str, str]]:
    return [
        ("Queries without results", f"{result.queries_without_results:,}"),
        ("Mean latency, ms", f"{result.latency_ms.mean:.1f}"),
        ("95th percentile of it, ms", f"{result.latency_ms.percentile_95:.1f}"),
    ]


def print_answer_report(evaluation: AnswerEvaluation) -> None:
    known = sum(bool(each.relevant) for each in evaluation.questions)
    tell(
        f"{quantity(len(evaluation.questions), 'question')}, {known} with an answer; "
        f"model: {evaluation.model}"
    )
    rows = [
        (
            each.measure[0].upper() + each.measure[1:],
            "-" if each.share is None else figure(each.share),
            f"{each.count} of {each.total}",
        )
        for each in evaluation.measures
    ]
    print_table(["Measure", "Share", "Number"], rows)
    if evaluation.mean_seconds is not None:
        tell(f"Mean time of the model: {evaluation.mean_seconds:.1f} s")
    if errors := [(each.id, each.error) for each in evaluation.questions if each.error]:
        tell("Errors:")
        print_table(["Question", "Error"], errors)
