"""Embedding of what a command has added, if search by meaning is on."""

from pathlib import Path
from typing import Literal

from idx.output.printing import say, warn
from shared.backends import takes_vectors
from shared.errors import McpLuceneError
from shared.messages import quantity
from shared.settings.current import sentence_model
from shared.settings.defaults import SEMANTIC_OFF

_REMAINING = "the texts are indexed; idx semantic update makes the remaining vectors"


def warn_of_server(model: str) -> None:
    """Warn that texts will leave this machine, if the model has a server on another one.

    Args:
        model: the model as it was named.

    Raises:
        SemanticModelError: it is an address, but not a valid one.
    """
    from shared.semantic.served import server_of

    server = server_of(model)
    if server and not server.is_local:
        way = "" if server.is_encrypted else ", unencrypted"
        warn(f"the texts of this index, and queries, are sent to {server.host}{way}")


def embed_added(index_path: Path, wait: float, when: Literal["now", "later"]) -> None:
    """Embed the chunks of an index that have no vector yet.

    The setting ``semantic`` switches search by meaning on in an index that has none. What goes
    wrong is a warning: the texts are indexed.

    Args:
        index_path: the index folder.
        wait: seconds to wait for another writer to end.
        when: ``later`` to leave it to ``idx semantic update``.
    """
    wanted = sentence_model()
    if wanted == SEMANTIC_OFF or not takes_vectors(index_path):
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
        from idx.output.progress import shown

        done = embed(index_path, wait=wait, progress=shown)
    except McpLuceneError as error:
        from idx.errors import message

        warn(f"{message(error)}; {_REMAINING}")
        return
    except KeyboardInterrupt:
        say(f"Interrupted: {_REMAINING}.")
        raise
    if done.chunks:
        say(f"Embedded {quantity(done.chunks, 'chunk')} in {done.seconds:.1f} s")
