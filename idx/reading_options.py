"""What the commands that read files let the user choose."""

from dataclasses import dataclass

from idx.options import (
    AllowSecrets,
    Encoding,
    Exclude,
    FollowLinks,
    Hidden,
    Include,
    MaxMemory,
    MaxSize,
    PdfEngine,
    PdfPassword,
    Timeout,
    Workers,
)
from shared.settings.defaults import (
    DEFAULT_MAX_MEGABYTES,
    DEFAULT_MAX_MEMORY,
    DEFAULT_PDF_ENGINE,
    DEFAULT_TIMEOUT,
)


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """The options; each is a setting of the configuration, too."""

    include: Include = None
    exclude: Exclude = None
    hidden: Hidden = False
    follow_links: FollowLinks = False
    allow_secrets: AllowSecrets = None
    max_size: MaxSize = DEFAULT_MAX_MEGABYTES
    encoding: Encoding = None
    pdf_engine: PdfEngine = DEFAULT_PDF_ENGINE
    pdf_password: PdfPassword = None
    workers: Workers = None
    timeout: Timeout = DEFAULT_TIMEOUT
    max_memory: MaxMemory = DEFAULT_MAX_MEMORY
