"""Command `idx eval`."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from idx.cli.options import (
    DEFAULT_INDEX_PATH,
    PATH,
    AnswerOptions,
    GivenPath,
    IndexPath,
    Json,
    takes,
)
from idx.errors import SourceFileError
from idx.models import answer_model_of, run
from idx.output.printing import print_json, say, warn
from shared.answers.prompt import DEFAULT_TOP_K, MAX_TOP_K
from shared.errors import ExtraMissingError
from shared.model.request import Operator, Syntax

if TYPE_CHECKING:
    from idx.evaluation.collection import Judgements, Query
    from idx.evaluation.experiment import Configuration

# Those of the extra, looked for before any lengthy work.
_LIBRARIES: Final = ("ir_measures", "numpy", "pytrec_eval")


@takes(AnswerOptions, "answering")
def evaluate(
    queries_file: Annotated[
        Path,
        typer.Option("--queries", metavar="FILE", click_type=PATH, help="Queries: JSON Lines."),
    ],
    qrels: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            click_type=PATH,
            help="Relevance judgements: which documents answer which query.",
        ),
    ],
    documents: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            click_type=PATH,
            help="Documents for a temporary index: JSON Lines. By default, the "
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
            click_type=GivenPath(dir_okay=False, writable=True),
            help="Write the results as a TREC run file; with --set, those of the changed weights.",
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
    *,
    answering: AnswerOptions,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    as_json: Json = False,
) -> None:
    """Measure the quality of search, using queries with known answers.

    Reports nDCG@10, P@k, R@k, MAP, MRR and success@k with confidence intervals, and queries without
    results. The files are in the formats of BEIR, judgements also in that of TREC. This command
    requires the package's extra "evaluation", or, with --answers, "answers".

    Example: idx eval --documents corpus.jsonl --queries queries.jsonl --qrels test.tsv --set b=0.4
    """
    depths = depths or [10]
    if max(depths) > limit:
        raise typer.BadParameter(f"-k {max(depths)} is more than --limit {limit}")
    if run_file and not run_file.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {run_file.parent} to write {run_file} into")
    if answers and (settings or compare or run_file):
        raise typer.BadParameter("--answers takes no --set or --run, nor --compare")
    configurations = [] if answers else _configurations(settings, compare)
    from idx.evaluation.collection import read_judgements, read_queries
    from idx.evaluation.experiment import ask_all, embed_texts, evaluate_runs, write_run
    from idx.evaluation.report import evaluate_answers, print_answer_report, print_report
    from shared.model.request import SearchRequest

    queries, judgements = read_queries(queries_file), read_judgements(qrels)
    if answers:
        with _index(documents, index_path) as (index, ids):
            _check_documents(judgements.only({query.id for query in queries}), ids, qrels)
            model = answer_model_of(answering)
            answered = run(evaluate_answers(index, queries, judgements, model, passages))
        if as_json:
            print_json(answered)
        else:
            print_answer_report(answered)
        return
    asked = _ask_queries(queries, judgements, queries_file, qrels)
    with _index(documents, index_path) as (index, ids):
        _check_documents(judgements.only({query.id for query in asked}), ids, qrels)
        if compare and documents:
            embed_texts(index)
        request = SearchRequest("", limit=limit, operator=operator, syntax=syntax)
        found = ask_all(index, asked, configurations, request)
    runs = [*zip(configurations, found, strict=True)]
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
    if as_json:
        print_json(asdict(evaluation))
    else:
        print_report(evaluation)
    if run_file:
        write_run(found[-1], configurations[-1].name, run_file)
        say(f"Wrote {run_file}.")


def _configurations(
    settings: list[str] | None, compare: Literal["words", "meaning"] | None
) -> "list[Configuration]":
    from idx.evaluation.experiment import BOTH, DEFAULT, Configuration, changed

    for library in _LIBRARIES:
        if find_spec(library) is None:
            raise ExtraMissingError("idx eval", "evaluation", library)
    if compare and settings:
        raise typer.BadParameter("give --set or --compare, not both")
    if compare:
        return [Configuration(compare, search=compare), BOTH]
    try:
        return [DEFAULT, changed(settings)] if settings else [DEFAULT]
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--set") from error


def _index(
    documents: Path | None, index_path: Path
) -> AbstractContextManager[tuple[Path, set[str]]]:
    from idx.evaluation.experiment import document_ids, temporary_index

    if documents:
        return temporary_index(documents)
    return nullcontext((index_path, document_ids(index_path)))


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
