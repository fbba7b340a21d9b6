"""Settings with their environment variables, defaults and bounds.

A command-line option takes precedence over the variable, the variable over the configuration file,
and the file over the default; `shared.settings.current` finds the value in effect.
"""

from pathlib import Path
from typing import Final, Literal

from shared.system import memory_bytes, usable_cores

INDEX_PATH_VARIABLE: Final = "IDX_INDEX_PATH"
"""Environment variable for the index folder."""

CONFIGURATION_VARIABLE: Final = "IDX_CONFIG"
"""Environment variable for the configuration file."""

NORMALIZER_API_KEY_VARIABLE: Final = "IDX_NORMALIZER_API_KEY"
ANSWER_API_KEY_VARIABLE: Final = "IDX_ANSWER_API_KEY"
SEMANTIC_API_KEY_VARIABLE: Final = "IDX_SEMANTIC_API_KEY"
"""Environment variables for the keys of servers whose models rewrite queries, answer questions and
embed texts; not settings, so they are never shown."""

KEY_VARIABLES: Final = {
    "normalizer_url": NORMALIZER_API_KEY_VARIABLE,
    "answer_url": ANSWER_API_KEY_VARIABLE,
    "semantic": SEMANTIC_API_KEY_VARIABLE,
}
"""Environment variable for the key of the server whose address is a setting."""

TOKENS_VARIABLE: Final = "IDX_TOKENS"
"""Environment variable for the bearer tokens of ``mcp-lucene --http``; not a setting, so they are
in no file."""

SHARE_VARIABLE: Final = "IDX_SHARE"
"""Environment variable that keeps a server over stdio from sharing a process with others."""

OPENSEARCH_USER_VARIABLE: Final = "IDX_OPENSEARCH_USER"
OPENSEARCH_PASSWORD_VARIABLE: Final = "IDX_OPENSEARCH_PASSWORD"  # noqa: S105 - a name
OPENSEARCH_TOKEN_VARIABLE: Final = "IDX_OPENSEARCH_TOKEN"  # noqa: S105 - a name
OPENSEARCH_CA_VARIABLE: Final = "IDX_OPENSEARCH_CA"
"""Environment variables for the user and password, or a bearer token, that a cluster is shown, and
for a file of certificates that sign the cluster's; not settings, so they are never shown."""

OPENSEARCH_VARIABLES: Final = (
    OPENSEARCH_USER_VARIABLE,
    OPENSEARCH_PASSWORD_VARIABLE,
    OPENSEARCH_TOKEN_VARIABLE,
    OPENSEARCH_CA_VARIABLE,
)

VARIABLES: Final = {
    name: f"IDX_{name.upper()}"
    for name in (
        *("index_path", "wait", "folders", "collections", "include", "exclude", "hidden"),
        *("follow_links", "allow_secrets", "originals", "max_size", "max_rows", "encoding"),
        *("layout", "pdf_engine", "pdf_password", "ocr", "ocr_languages", "workers", "timeout"),
        *("max_memory", "java_heap", "normalize", "normalizer_model", "normalizer_url"),
        *("normalizer_timeout", "answer_model", "answer_url", "answer_timeout"),
        *("answer_max_tokens", "semantic"),
    )
}
"""Environment variable of each setting, in the order in which settings are shown."""

MODEL_CACHE_VARIABLE: Final = "IDX_MODEL_CACHE"
"""Environment variable for the folder of downloaded sentence models; not a setting, because
whoever runs several programs sets it for all of them."""

Layout = Literal["keep", "join"]
"""White space in the chunks of a text: kept as it is, or single spaces between words."""

PdfEngineName = Literal["auto", "pdfium", "pdfplumber"]
"""Engine that reads the pages of a PDF; ``auto`` uses pdfplumber only for pages with ruled
tables."""

OcrMode = Literal["auto", "off", "force"]
"""Recognition of text by Tesseract: in pages without text, in none, in all pages and pictures."""

COLLECTION_NAME_PATTERN: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}"
"""Form of a collection's name, which is part of the scopes of tokens."""

MAX_COLLECTIONS: Final = 100

MAX_DESCRIPTION_CHARACTERS: Final = 300

OCR_LANGUAGES_PATTERN: Final = r"^[A-Za-z_]{2,30}(\+[A-Za-z_]{2,30})*$"
"""Form of languages as Tesseract names them, such as ``deu+eng``."""

DEFAULT_OCR: Final[OcrMode] = "auto"
"""Recognition of text in pages without text, where Tesseract is installed."""

DEFAULT_INDEX_PATH: Final = Path("lucene-index")
"""Default index folder, relative to the folder in which the program was started."""

MAX_COUNT: Final = 2**31 - 1
"""Maximum number of a chunk, offset or count: Lucene counts in 32 bits."""

DEFAULT_WAIT: Final = 10.0
"""Time that a writer waits for another one to end, in seconds."""

DEFAULT_MAX_MEGABYTES: Final = 50.0
"""Maximum size of a file that is read as a document, in units of 10⁶ bytes."""

DEFAULT_MAX_ROWS: Final = 100_000
"""Maximum number of rows that are read of one sheet or file of rows; sheets have up to 1,048,576,
which would be more chunks than most folders have otherwise."""

DEFAULT_PDF_ENGINE: Final[PdfEngineName] = "auto"

DEFAULT_TIMEOUT: Final = 120.0
"""Maximum time of a worker for one file, in seconds."""

MIN_TIMEOUT: Final = 1
MAX_TIMEOUT: Final = 86_400
"""Bounds of the timeout in seconds; the maximum is a day."""

DEFAULT_MAX_MEMORY: Final = 2000
"""Maximum memory of a worker, in units of 10⁶ bytes."""

MIN_MEMORY: Final = 100
MAX_MEMORY: Final = 1_000_000
"""Bounds of a worker's memory, in units of 10⁶ bytes; a worker cannot start with less than the
minimum."""

DEFAULT_JAVA_HEAP: Final = 512
"""Default size of Java's heap in MiB, on a machine with at least twice as much memory."""

MIN_JAVA_HEAP: Final = 16
MAX_JAVA_HEAP: Final = 1_000_000
"""Bounds of Java's heap in MiB; with the minimum, an empty index can be searched and little
more."""

MAX_WORKERS: Final = 1024

LOCAL_MODEL_URL: Final = "http://localhost:11434/v1"
"""Address of Ollama on this machine, a server of language models."""

DEFAULT_NORMALIZER_URL: Final = LOCAL_MODEL_URL

DEFAULT_NORMALIZER_TIMEOUT: Final = 3.0
"""Maximum time of a language model to rewrite a query, in seconds; the search waits for it."""

MIN_NORMALIZER_TIMEOUT: Final = 0.5
MAX_NORMALIZER_TIMEOUT: Final = 60
"""Bounds of that time in seconds; clients of the server abandon a search after a minute."""

DEFAULT_SENTENCE_MODEL: Final = "e5"
"""Sentence model that ``idx semantic on`` uses if none is named."""

SEMANTIC_OFF: Final = "off"
"""Value of the setting ``semantic`` for searches by words only, whatever the index has."""

DEFAULT_ANSWER_TIMEOUT: Final = 120.0
"""Maximum time of a language model to answer a question, in seconds; a small model without a
graphics card reads six passages in half a minute."""

MAX_ANSWER_TIMEOUT: Final = 3_600
"""Maximum of that time in seconds; the minimum is `MIN_TIMEOUT`."""

DEFAULT_ANSWER_MAX_TOKENS: Final = 2_000
"""Maximum length of a language model's answer with its reasoning and quotes, in tokens."""

MIN_ANSWER_MAX_TOKENS: Final = 50
MAX_ANSWER_MAX_TOKENS: Final = 100_000
"""Bounds of that length in tokens; the minimum is a sentence and its quote."""

_CONTROL_GROUPS: Final = Path("/sys/fs/cgroup")
_OWN_GROUP: Final = Path("/proc/self/cgroup")


def usable_bytes(groups: Path = _CONTROL_GROUPS, own_group: Path = _OWN_GROUP) -> int:
    """Return the memory of the machine in bytes, or the limit of a container or service."""
    return min([memory_bytes(), *_limits(groups, own_group)])


def _limits(groups: Path, own_group: Path) -> list[int]:
    """Return the limits of the group and its parents; inside a container it is the root."""
    try:
        lines = own_group.read_text().splitlines()
    except OSError:
        return []
    name = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), "")
    group = groups / name
    limits = []
    for folder in (group, *group.parents):
        if not folder.is_relative_to(groups):
            break
        try:
            limits.append(int((folder / "memory.max").read_text()))
        except (OSError, ValueError):
            # The root has no such file, and a group without a limit says "max".
            continue
    return limits


def default_workers() -> int:
    """Return the default number of worker processes: one for each core of this process."""
    return usable_cores()


def default_java_heap() -> int:
    """Return the default size of Java's heap in MiB.

    It is at most half of the memory, so that a small machine has room for Python and for the files
    of the index.
    """
    half = usable_bytes() // 2**21
    return max(MIN_JAVA_HEAP, min(half, DEFAULT_JAVA_HEAP))
