"""What can be set, by which variable of the environment, with the defaults and bounds.

An option on the command line beats the variable, the variable beats the configuration file, the
file beats the default: `shared.settings.current` tells which holds.
"""

from pathlib import Path
from typing import Final, Literal

INDEX_PATH_VARIABLE: Final = "IDX_INDEX_PATH"
"""Names the index folder."""

CONFIGURATION_VARIABLE: Final = "IDX_CONFIG"
"""Names the configuration file."""

NORMALIZER_API_KEY_VARIABLE: Final = "IDX_NORMALIZER_API_KEY"
"""Holds the key for a language model's server; it is not a setting, so nothing shows it."""

TOKENS_VARIABLE: Final = "IDX_TOKENS"
"""Holds the bearer tokens of ``mcp-lucene --http``, which are not a setting: no file has them."""

VARIABLES: Final = {
    "index_path": INDEX_PATH_VARIABLE,
    "wait": "IDX_WAIT",
    "folders": "IDX_FOLDERS",
    "include": "IDX_INCLUDE",
    "exclude": "IDX_EXCLUDE",
    "hidden": "IDX_HIDDEN",
    "follow_links": "IDX_FOLLOW_LINKS",
    "allow_secrets": "IDX_ALLOW_SECRETS",
    "max_size": "IDX_MAX_SIZE",
    "encoding": "IDX_ENCODING",
    "pdf_engine": "IDX_PDF_ENGINE",
    "pdf_password": "IDX_PDF_PASSWORD",
    "workers": "IDX_WORKERS",
    "timeout": "IDX_TIMEOUT",
    "max_memory": "IDX_MAX_MEMORY",
    "java_heap": "IDX_JAVA_HEAP",
    "normalize": "IDX_NORMALIZE",
    "normalizer_model": "IDX_NORMALIZER_MODEL",
    "normalizer_url": "IDX_NORMALIZER_URL",
    "normalizer_timeout": "IDX_NORMALIZER_TIMEOUT",
}
"""The variable of each setting, in the order in which settings are shown."""

PdfEngineName = Literal["auto", "pdfium", "pdfplumber"]
"""Reads the pages of a PDF: ``auto`` takes pdfplumber for pages with ruled tables only."""

DEFAULT_INDEX_PATH: Final = Path("lucene-index")
"""In the folder where the program was started."""

MAX_COUNT: Final = 2**31 - 1
"""The greatest number of a chunk, an offset or a count: Lucene counts in 32 bits."""

DEFAULT_WAIT: Final = 10.0
"""Seconds that a writer waits for another one to end."""

DEFAULT_MAX_MEGABYTES: Final = 50.0
"""Largest file that is read as a document, in units of 10⁶ bytes."""

DEFAULT_PDF_ENGINE: Final[PdfEngineName] = "auto"
"""What reads the pages of a PDF."""

DEFAULT_TIMEOUT: Final = 120.0
"""Seconds that a worker may take for one file."""

MIN_TIMEOUT: Final = 1

MAX_TIMEOUT: Final = 86_400
"""Seconds; the greatest is a day."""

DEFAULT_MAX_MEMORY: Final = 2000
"""Memory that a worker may take, in units of 10⁶ bytes."""

MIN_MEMORY: Final = 100

MAX_MEMORY: Final = 1_000_000
"""In units of 10⁶ bytes; a worker cannot start with less."""

DEFAULT_JAVA_HEAP: Final = 512
"""Memory that Java's objects may take, in MiB, on a machine that has twice as much or more."""

MIN_JAVA_HEAP: Final = 16

MAX_JAVA_HEAP: Final = 1_000_000
"""In MiB; with the least one, an empty index can be searched and little more."""

MAX_WORKERS: Final = 1024
"""The greatest number of worker processes."""

DEFAULT_NORMALIZER_URL: Final = "http://localhost:11434/v1"
"""The address of a language model's server: that of Ollama on this machine."""

DEFAULT_NORMALIZER_TIMEOUT: Final = 3.0
"""Seconds that a language model may take to rewrite a query, which is waited for meanwhile."""

MIN_NORMALIZER_TIMEOUT: Final = 0.5

MAX_NORMALIZER_TIMEOUT: Final = 60
"""Seconds; clients of the server give a search up after a minute."""
