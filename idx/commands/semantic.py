"""Command `idx semantic` and its subcommands."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from idx.cli.configured_command import ConfiguredCommand
from idx.cli.options import (
    DEFAULT_INDEX_PATH,
    IndexPath,
    Json,
    SentenceModel as SentenceModelOption,
    Vectors,
    Wait,
)
from idx.output.printing import print_done, print_json, say, shown, tell
from shared.errors import ExtraMissingError, SemanticModelError
from shared.messages import quantity
from shared.settings.defaults import DEFAULT_SENTENCE_MODEL, DEFAULT_WAIT, SEMANTIC_OFF
from shared.system.shell import quoted

if TYPE_CHECKING:
    from shared.semantic.sentence_model import SentenceModel

semantic = typer.Typer()


@semantic.command("on", cls=ConfiguredCommand)
def on(
    semantic: SentenceModelOption = DEFAULT_SENTENCE_MODEL,
    vectors: Vectors = "now",
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    wait: Wait = DEFAULT_WAIT,
    as_json: Json = False,
) -> None:
    """Embed the index with a sentence model, and from then on what is added.

    Searches then also find chunks that say the same in other words. The index can be searched
    meanwhile; a run that is interrupted is continued by idx semantic update. Another model than
    before embeds everything again.

    Example: idx semantic on
    """
    if semantic == SEMANTIC_OFF:
        raise typer.BadParameter(
            "the setting semantic is off; name a model with --model", param_hint="--model"
        )
    from idx.models import warn_of_server
    from shared.maintenance.embedding import switch_on
    from shared.semantic.models import needs_preparation

    warn_of_server(semantic)
    if needs_preparation(semantic):
        say(f"Preparing the model {semantic}, once; it is downloaded")
    model = switch_on(index_path, semantic, wait=wait)
    say(f"Search by meaning is on, with the model {model.name}")
    if vectors == "now":
        _embed(index_path, wait, as_json=as_json, named=semantic)
    else:
        _print_state(index_path, as_json=as_json)


@semantic.command("off", cls=ConfiguredCommand)
def off(
    index_path: IndexPath = DEFAULT_INDEX_PATH, wait: Wait = DEFAULT_WAIT, as_json: Json = False
) -> None:
    """Remove all vectors from the index, which is then searched by words only.

    Example: idx semantic off
    """
    from shared.maintenance.embedding import switch_off

    was_on = switch_off(index_path, wait=wait)
    print_done(
        {"was_on": was_on},
        "Search by meaning is off; the vectors were removed"
        if was_on
        else "Search by meaning is off already; nothing was changed.",
        as_json=as_json,
    )


@semantic.command("status", cls=ConfiguredCommand)
def status(index_path: IndexPath = DEFAULT_INDEX_PATH, as_json: Json = False) -> None:
    """Show the sentence model of the index, and how many chunks are embedded.

    Example: idx semantic status --json
    """
    _print_state(index_path, as_json=as_json)


@semantic.command("update", cls=ConfiguredCommand)
def update(
    index_path: IndexPath = DEFAULT_INDEX_PATH, wait: Wait = DEFAULT_WAIT, as_json: Json = False
) -> None:
    """Embed the chunks that are not embedded yet.

    Needed only after --vectors later, or after an interruption.

    Example: idx semantic update
    """
    from shared.maintenance.embedding import embedding_state

    if embedding_state(index_path).model is None:
        _print_state(index_path, as_json=as_json)
        return
    _embed(index_path, wait, as_json=as_json)


def _embed(index_path: Path, wait: float, *, as_json: bool, named: str | None = None) -> None:
    from shared.maintenance.embedding import embed

    try:
        done = embed(index_path, wait=wait, progress=shown, named=named)
    except KeyboardInterrupt:
        say("Interrupted: what was embedded is kept; idx semantic update continues.")
        raise
    if done.chunks:
        others = f", {done.other_languages:,} in other languages" if done.other_languages else ""
        say(f"Embedded {quantity(done.chunks, 'chunk')}{others} in {done.seconds:.1f} s")
    _print_state(index_path, as_json=as_json)


def _say_if_not_used(model: "SentenceModel") -> None:
    """Say why searches, and later commands, do not use the model of an index."""
    from shared.semantic.models import check_allowed, encoder_of

    try:
        check_allowed(model)
    except SemanticModelError:
        say(
            "Searches and what is added later use it once the setting names it: "
            f"idx config set semantic {quoted(model.name)}"
        )
        return
    try:
        encoder_of(model)
    except (ExtraMissingError, SemanticModelError) as error:
        say(f"Searches rank by words only: {error}")


def _print_state(index_path: Path, *, as_json: bool) -> None:
    from shared.maintenance.embedding import embedding_state

    state = embedding_state(index_path)
    if as_json:
        print_json({**asdict(state), "pending": state.pending})
    elif state.model is None:
        tell("Search by meaning is off; to switch it on: idx semantic on")
    else:
        model = state.model
        tell(f"Search by meaning is on: model {model.name}, {model.dimensions} dimensions")
        tell(f"Languages: {', '.join(model.languages) or 'all'}")
        tell(f"{state.embedded:,} of {quantity(state.chunks, 'chunk')} embedded")
        if state.pending:
            tell(f"{state.pending:,} are missing; to embed them: idx semantic update")
    if state.model:
        _say_if_not_used(state.model)
