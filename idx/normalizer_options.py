"""What `idx search` lets the user choose about rewriting the query."""

from dataclasses import dataclass

from idx.options import Normalize, NormalizerModel, NormalizerTimeout, NormalizerUrl
from shared.settings.defaults import DEFAULT_NORMALIZER_TIMEOUT, DEFAULT_NORMALIZER_URL


@dataclass(frozen=True, slots=True)
class NormalizerOptions:
    """The options; each is a setting of the configuration, too."""

    normalize: Normalize = False
    normalizer_model: NormalizerModel = None
    normalizer_url: NormalizerUrl = DEFAULT_NORMALIZER_URL
    normalizer_timeout: NormalizerTimeout = DEFAULT_NORMALIZER_TIMEOUT
