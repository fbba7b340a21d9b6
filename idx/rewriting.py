"""The query of `idx search` in the words of a language model."""

from typing import TYPE_CHECKING

from idx.normalizer_options import NormalizerOptions
from shared.model.request import Syntax

if TYPE_CHECKING:
    from shared.rewriting.rewriter import Rewriting


def rewriting_of(query: str, syntax: Syntax, options: NormalizerOptions) -> "Rewriting":
    """What came of rewriting a query, if that is wanted.

    Raises:
        ConfigurationError: the address of the language model is none.
    """
    from shared.rewriting.rewriter import Rewriting, normalize

    if not options.normalize:
        return Rewriting()
    import asyncio

    from shared.rewriting.language_model import configured_model

    model = configured_model(
        options.normalizer_model, options.normalizer_url, options.normalizer_timeout
    )
    # Not asyncio.run: it would wait for the name of a server to be looked up, however long.
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(normalize(query, model, syntax))
    finally:
        loop.close()
