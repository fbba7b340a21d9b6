"""Embedding of what a command has added, if search by meaning is on."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from idx.cli.options import VectorsChoice
from idx.output.printing import say, warn
from shared.backends import takes_vectors
from shared.errors import McpLuceneError
from shared.messages import quantity
from shared.settings.current import sentence_model
from shared.settings.defaults import SEMANTIC_OFF

if TYPE_CHECKING:
    from shared.maintenance.upkeep import Step
    from shared.writing.index import Index

_MANY = 1_000  # chunks whose embedding takes so long that one wants to know what is waited for

_REMAINING = "the texts are indexed; idx semantic update makes the remaining vectors"


def warn_of_server(model: str) -> None:
    """Warn that texts will leave this machine, if the model has a server on another one."""
    from shared.semantic.served import server_of

    server = server_of(model)
    if server and not server.is_local:
        way = "" if server.is_encrypted else ", unencrypted"
        warn(f"the texts of this index, and queries, are sent to {server.host}{way}")


def give_model(index: "Index", *, vectors: VectorsChoice = "later") -> None:
    """Give a new index the model that new indexes have, if it is installed."""
    if vectors == "off" or not takes_vectors(index.path):
        return
    from shared.maintenance.embedding import model_of_new_index

    try:
        model = model_of_new_index()
    except McpLuceneError as error:
        from idx.errors import message

        warn(f"{message(error)}; the index has no search by meaning until idx semantic on")
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
    if wanted == SEMANTIC_OFF or when == "off" or not takes_vectors(index_path):
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
        from idx.output.printing import shown

        pending = embedding_state(index_path).pending
        if pending > _MANY:
            say(
                f"All texts are found by their words now; embedding {pending:,} chunks, so that "
                "they are found by their meaning, too. Ctrl-C keeps what is done."
            )
        progress = shown if ends is None else partial(_until, ends)
        done = embed(index_path, wait=wait, progress=progress)
    except McpLuceneError as error:
        from idx.errors import message

        warn(f"{message(error)}; {_REMAINING}")
        return
    except KeyboardInterrupt:
        say(f"Interrupted: {_REMAINING}.")
        raise
    if done.chunks:
        say(f"Embedded {quantity(done.chunks, 'chunk')} in {done.seconds:.1f} s")


def _until(ends: Event, steps: "Iterable[Step]") -> "Iterator[Step]":
    """Pass on the steps of a run until it is to end."""
    for step in steps:
        yield step
        if ends.is_set():
            return
