"""Command `idx eval`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from idx.cli.language_models import answer_model_of, run
from idx.cli.option_groups import AnswerOptions, takes
from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.errors import SourceFileError
from idx.output.printing import print_json, say, warn
from shared.answers.prompt import DEFAULT_TOP_K, MAX_TOP_K
from shared.model.request import Operator, Syntax

if TYPE_CHECKING:
    from idx.evaluation.collection.judgements import Judgements
    from idx.evaluation.collection.queries import Query
    from idx.evaluation.results import Evaluation
    from idx.evaluation.search_settings import Configuration


@takes(AnswerOptions, "answering")
def evaluate(
    queries_file: Annotated[
        Path,
        typer.Option(
            "--queries",
            metavar="FILE",
            readable=False,
            help="Queries: JSON Lines, a table, or topics of TREC.",
        ),
    ],
    qrels: Annotated[
        Path,
        typer.Option(
            "--qrels",
            metavar="FILE",
            readable=False,
            help="Relevance judgements: which documents answer which query.",
        ),
    ],
    documents: Annotated[
        Path | None,
        typer.Option(
            "--documents",
            metavar="FILE",
            readable=False,
            help="Documents for a temporary index: JSON Lines, or SGML of TREC. By default, the "
            "index at --index-path is searched; its documents must have the ids of the "
            "judgements.",
        ),
    ] = None,
    depths: Annotated[
        list[int] | None,
        typer.Option(
            "--depth",
            "-k",
            min=1,
            metavar="K",
            help="Number of top documents for P@k, R@k and success@k, 10 by default; repeatable.",
        ),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(min=10, max=10_000, help="Number of documents to retrieve for each query."),
    ] = 100,
    operator: Annotated[
        Operator, typer.Option(help="Match any word (or), or only all words (and).")
    ] = "or",
    syntax: Annotated[Syntax, typer.Option(help="Query syntax, as for idx search.")] = "plain",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Compare the default ranking with this weight; repeatable.",
        ),
    ] = None,
    compare: Annotated[
        Literal["words", "meaning"] | None,
        typer.Option(
            help="Compare search by words or by meaning alone with search by both. With "
            "--documents, they are embedded first."
        ),
    ] = None,
    diff: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="With --set or --compare: number of most changed queries to list.",
        ),
    ] = 10,
    run_file: Annotated[
        Path | None,
        typer.Option(
            "--run",
            metavar="FILE",
            dir_okay=False,
            writable=True,
            help="Write the results as a TREC run file; with --set, those of the changed weights.",
        ),
    ] = None,
    html_file: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            dir_okay=False,
            writable=True,
            help="Write an HTML report with plots.",
        ),
    ] = None,
    answers: Annotated[
        bool,
        typer.Option(
            "--answers",
            help="Have a language model answer the queries, and check its citations. Queries "
            "without a relevant document count as questions without an answer.",
        ),
    ] = False,
    passages: Annotated[
        int,
        typer.Option(
            min=1, max=MAX_TOP_K, help="With --answers: number of chunks that the model is given."
        ),
    ] = DEFAULT_TOP_K,
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --answers: have this model judge whether the quotes prove each answer.",
        ),
    ] = None,
    *,
    answering: AnswerOptions,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    as_json: Json = False,
) -> None:
    """Measure the quality of search, using queries with known answers.

    Reports nDCG@10, P@k, R@k, MAP, MRR and success@k with confidence intervals, queries without
    results, and latency. The files are in the formats of TREC or BEIR. This command requires the
    package's extra "evaluation", or, with --answers, "answers".

    Example: idx eval --documents corpus.jsonl --queries queries.jsonl --qrels test.tsv --set b=0.4
    """
    depths = depths or [10]
    if max(depths) > limit:
        raise typer.BadParameter(f"-k {max(depths)} is more than --limit {limit}")
    _check_folders(run_file, html_file)
    if answers:
        if settings or compare or run_file or html_file:
            raise typer.BadParameter("--answers takes no --set, --run or --html, nor --compare")
        with _index(documents, index_path) as (index, ids):
            _evaluate_answers(
                queries_file,
                qrels,
                index,
                ids,
                answering,
                passages=passages,
                judge=judge,
                as_json=as_json,
            )
        return
    if judge:
        raise typer.BadParameter("--judge needs --answers")
    from idx.evaluation.extra import check_extra

    configurations = _configurations(settings, compare)
    check_extra()

    from idx.evaluation.collection.judgements import read_judgements
    from idx.evaluation.collection.queries import read_queries
    from idx.evaluation.evaluate import evaluate_runs
    from idx.evaluation.experiment import SearchSettings, ask_all, embed_texts

    queries, judgements = read_queries(queries_file), read_judgements(qrels)
    asked = _ask_queries(queries, judgements, queries_file, qrels)
    with _index(documents, index_path) as (index, ids):
        _check_documents(judgements.only({query.id for query in asked}), ids, qrels)
        if compare and documents:
            embed_texts(index)
        search = SearchSettings(limit, operator, syntax)
        runs = list(zip(configurations, ask_all(index, asked, configurations, search), strict=True))
    evaluation = evaluate_runs(
        runs,
        asked,
        judgements,
        depths=depths,
        limit=limit,
        documents=len(ids),
        skipped_queries=len(queries) - len(asked),
        diff=diff,
    )
    _print_evaluation(evaluation, as_json=as_json)
    if run_file:
        from idx.evaluation.run import write_run

        configuration, run = runs[-1]
        write_run(run, configuration.name, run_file)
        say(f"Wrote {run_file}.")
    if html_file:
        from idx.evaluation.report.html import html_report

        html_file.write_text(html_report(evaluation), encoding="utf-8")
        say(f"Wrote {html_file}.")


def _check_folders(*files: Path | None) -> None:
    """Check that the folders of the files to be written exist."""
    for file in files:
        if file and not file.parent.is_dir():
            raise typer.BadParameter(f"there is no folder {file.parent} to write {file.name} into")


def _configurations(
    settings: list[str] | None, compare: Literal["words", "meaning"] | None
) -> "list[Configuration]":
    """Return the configuration to evaluate, or the two to compare."""
    from idx.evaluation.search_settings import (
        BOTH,
        DEFAULT,
        Configuration,
        InvalidSettingError,
        changed,
    )

    if compare and settings:
        raise typer.BadParameter("give --set or --compare, not both")
    if compare:
        return [Configuration(compare, search=compare), BOTH]
    try:
        return [DEFAULT, changed(settings)] if settings else [DEFAULT]
    except InvalidSettingError as error:
        raise typer.BadParameter(str(error), param_hint="--set") from error


def _print_evaluation(evaluation: "Evaluation", *, as_json: bool) -> None:
    if as_json:
        from dataclasses import asdict

        print_json(asdict(evaluation))
    else:
        from idx.evaluation.report.text import print_report

        print_report(evaluation)


def _evaluate_answers(
    questions_file: Path,
    qrels: Path,
    index: Path,
    ids: set[str],
    answering: AnswerOptions,
    *,
    passages: int,
    judge: str | None,
    as_json: bool,
) -> None:
    """Print the evaluation of the answers to all questions."""
    from dataclasses import replace

    from idx.evaluation.answers.evaluate import evaluate_answers
    from idx.evaluation.answers.questions import read_questions
    from idx.evaluation.answers.report import print_answer_report
    from idx.evaluation.collection.judgements import read_judgements

    questions, judgements = read_questions(questions_file), read_judgements(qrels)
    _check_documents(judgements.only({question.id for question in questions}), ids, qrels)
    judging = answer_model_of(replace(answering, answer_model=judge)) if judge else None
    evaluation = run(
        evaluate_answers(
            index,
            questions,
            judgements,
            answer_model_of(answering),
            passages=passages,
            judge=judging,
        )
    )
    if as_json:
        print_json(evaluation)
    else:
        print_answer_report(evaluation)


@contextmanager
def _index(documents: Path | None, index_path: Path) -> Iterator[tuple[Path, set[str]]]:
    """Yield the index to query, and the ids of its documents."""
    from idx.evaluation.experiment import document_ids, temporary_index

    if documents:
        with temporary_index(documents) as built:
            yield built
    else:
        yield index_path, document_ids(index_path)


def _ask_queries(
    queries: "list[Query]", judgements: "Judgements", queries_file: Path, qrels: Path
) -> "list[Query]":
    """Return the queries with a relevant document, which the measures are defined for."""
    asked = [query for query in queries if judgements.has_relevant(query.id)]
    if not asked:
        raise SourceFileError(
            qrels, f"no query of {queries_file} has a relevant document; are the ids the same?"
        )
    if skipped := len(queries) - len(asked):
        warn(
            f"{skipped:,} of {len(queries):,} queries have no relevant document in {qrels}; "
            "they are skipped"
        )
    return asked


def _check_documents(judgements: "Judgements", ids: set[str], qrels: Path) -> None:
    known = [id_ in ids for id_ in judgements.documents()]
    if not any(known):
        raise SourceFileError(
            qrels, "no document of it is among the documents; are the ids the same?"
        )
    if unknown := known.count(False):
        warn(
            f"{unknown:,} of {len(known):,} judgements are of unknown documents; the relevant ones "
            "count as not found"
        )
