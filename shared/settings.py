"""What can be set, by which variable of the environment, with the defaults and bounds.

An option on the command line beats the variable, the variable beats the configuration file, the
file beats the default. `shared.configuration` reads the file and the variables, and is imported
only where there is something to read: this module is light.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

from shared.errors import ConfigurationError

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


def default_workers() -> int:
    """How many worker processes there are if nobody says: one for each core of this process."""
    # What a container or taskset leaves to the process, which os.cpu_count does not tell.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_java_heap() -> int:
    """MiB of Java's heap if nobody says: half of the memory at most, so that a small machine has
    room for Python and for the files of the index.
    """
    from shared.machine_memory import usable_bytes

    half = usable_bytes() // 2**21
    return max(MIN_JAVA_HEAP, min(half, DEFAULT_JAVA_HEAP))


def java_heap() -> int:
    """MiB of Java's heap, as the variable or the configuration file says, or by default.

    Raises:
        ConfigurationError: the variable is wrong; or it is not set, and the file is wrong.
    """
    variable = VARIABLES["java_heap"]
    text = os.environ.get(variable)
    if not text:
        return configured("java_heap") or default_java_heap()
    # By itself: every command needs it, and pydantic takes a tenth of a second.
    with suppress(ValueError):
        if MIN_JAVA_HEAP <= (heap := int(text)) <= MAX_JAVA_HEAP:
            return heap
    raise ConfigurationError(
        "the environment",
        f"{variable}: the value should be a whole number from {MIN_JAVA_HEAP} to "
        f"{MAX_JAVA_HEAP:,} (it is {text[:80]!r})",
    )


def configuration_file() -> Path:
    """The configuration file, whether it exists or not."""
    named = os.environ.get(CONFIGURATION_VARIABLE)
    if named:
        return Path(os.path.expanduser(named)).absolute()  # noqa: PTH111 - Path's fails without home
    from platformdirs import user_config_path

    return user_config_path("mcp-lucene") / "config.toml"


def configured(setting: str) -> Any:
    """What the configuration file says about a setting; None if it says nothing.

    Args:
        setting: a key of `VARIABLES`.

    Raises:
        ConfigurationError: the file cannot be read, or something in it is wrong.
    """
    file = configuration_file()
    # Not Path.exists: a file that may not be looked at is an error, which reading it tells.
    with suppress(PermissionError):
        if not file.exists():
            return None
    from shared.configuration import value_in_file

    return value_in_file(file, setting)
