"""Language models that commands ask, and the vectors of what a command has added."""

from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from idx.cli.options import AnswerOptions, RewritingOptions, VectorsChoice
from idx.output.printing import say, shown, warn
from idx.sync.events import uninterrupted
from shared.errors import IndexMissingError, McpLuceneError
from shared.messages import quantity
from shared.model.request import Syntax
from shared.settings.current import sentence_model
from shared.settings.defaults import SEMANTIC_OFF

if TYPE_CHECKING:
    from shared.answers.model import ServedAnswerModel
    from shared.maintenance.upkeep import Step
    from shared.rewriting import Rewriting
    from shared.writing.index import Index

Result = TypeVar("Result")


def run(request: Coroutine[Any, Any, Result]) -> Result:
    """Wait for a request and return its result; Ctrl-C cancels it."""
    import asyncio

    # Not asyncio.run, which would wait for a pending lookup of a server's name without a limit.
    loop = asyncio.new_event_loop()
    task = loop.create_task(request)
    try:
        # Libraries turn an interruption that is raised at an arbitrary place into errors of theirs.
        with (
            uninterrupted(on_signal=lambda: loop.call_soon_threadsafe(task.cancel)),
            suppress(asyncio.CancelledError),
        ):
            return loop.run_until_complete(task)
        raise KeyboardInterrupt
    finally:
        try:
            loop.run_until_complete(_end_tasks())
        finally:
            loop.close()


def rewriting_of(query: str, syntax: Syntax, options: RewritingOptions) -> "Rewriting":
    """Rewrite a query with the language model, if that is enabled, and say what went wrong."""
    from shared.rewriting import Rewriting, ServedModel, rewrite_query

    if not options.normalize:
        return Rewriting()
    model = ServedModel.configured(
        options.normalizer_model, options.normalizer_url, options.normalizer_timeout
    )
    rewriting = run(rewrite_query(query, model, syntax))
    if rewriting.diagnostic:
        say(rewriting.diagnostic)
    return rewriting


def answer_model_of(options: AnswerOptions) -> "ServedAnswerModel":
    from shared.answers.model import ServedAnswerModel

    return ServedAnswerModel.configured(
        options.answer_model, options.answer_url, options.answer_timeout, options.answer_max_tokens
    )


async def _end_tasks() -> None:
    """Cancel what an interruption has left, so that its blocks are left."""
    import asyncio

    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


_MANY = 1_000  # chunks whose embedding takes so long that one wants to know what is waited for

_REMAINING = "the texts are indexed; idx semantic update makes the remaining vectors"


def warn_of_server(model: str) -> None:
    """Warn that texts will leave this machine, if the model has a server on another one."""
    from shared.semantic.served import server_of

    server = server_of(model)
    if server and not server.is_local:
        way = "" if server.is_encrypted else ", unencrypted"
        warn(f"the texts of this index, and queries, are sent to {server.host}{way}")


def _warn_of(error: McpLuceneError, consequence: str) -> None:
    from idx.errors import message

    # No index was created if there was nothing to add.
    if not isinstance(error, IndexMissingError):
        warn(f"{message(error)}; {consequence}")


def give_model(index: "Index", *, vectors: VectorsChoice = "later") -> None:
    """Give a new index the model that new indexes have, if it is installed."""
    if vectors == "off":
        return
    from shared.maintenance.embedding import model_of_new_index

    try:
        model = model_of_new_index()
    except McpLuceneError as error:
        _warn_of(error, "the index has no search by meaning until idx semantic on")
        return
    if model:
        index.sentence_model = model


@contextmanager
def embedding_beside(
    index_path: Path, wait: float, when: VectorsChoice
) -> Iterator[Callable[[], None]]:
    """Lend a function that has what was added embedded beside the work of the block.

    At the end of the block, what is embedded is kept.
    """
    added, ends = Event(), Event()

    def work() -> None:
        while added.wait() and not ends.is_set():
            added.clear()
            embed_added(index_path, wait, when, ends)

    thread = Thread(target=work, name="embedding")
    thread.start()
    try:
        yield added.set
    finally:
        ends.set()
        added.set()
        thread.join()


def embed_added(
    index_path: Path, wait: float, when: VectorsChoice, ends: Event | None = None
) -> None:
    """Embed the chunks of an index that have no vector yet.

    The setting ``semantic`` switches search by meaning on in an index that has none. What goes
    wrong is a warning: the texts are indexed. `ends` is set by others to end it early.
    """
    wanted = sentence_model()
    if wanted == SEMANTIC_OFF or when == "off":
        return
    from shared.maintenance.embedding import embed, embedding_state, switch_on
    from shared.semantic.models import is_named

    try:
        model = embedding_state(index_path).model
        if model is None:
            if wanted is None:
                return
            warn_of_server(wanted)
            model = switch_on(index_path, wanted, wait=wait)
        elif wanted is not None and not is_named(model, wanted):
            warn(
                f"the index is embedded with the model {model.name}, not {wanted}; to embed it "
                f"again: idx semantic on --model {wanted}"
            )
        if when == "later":
            return
        pending = embedding_state(index_path).pending
        if pending > _MANY:
            say(
                f"All texts are found by their words now; embedding {pending:,} chunks, so that "
                "they are found by their meaning, too. Ctrl-C keeps what is done."
            )
        progress = shown if ends is None else partial(_until, ends)
        done = embed(index_path, wait=wait, progress=progress)
    except McpLuceneError as error:
        _warn_of(error, _REMAINING)
        return
    except KeyboardInterrupt:
        say(f"Interrupted: {_REMAINING}.")
        raise
    if done.chunks:
        say(f"Embedded {quantity(done.chunks, 'chunk')} in {done.seconds:.1f} s")


def _until(ends: Event, steps: "Iterable[Step]") -> "Iterator[Step]":
    for step in steps:
        yield step
        if ends.is_set():
            return
