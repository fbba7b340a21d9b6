"""What both programs read from the environment, and the defaults and bounds they share.

An option on the command line beats the variable, the variable beats the default.
"""

from pathlib import Path
from typing import Final

INDEX_PATH_VARIABLE: Final = "IDX_INDEX_PATH"
"""Names the index folder."""

DEFAULT_INDEX_PATH: Final = Path("lucene-index")
"""In the folder where the program was started."""

MAX_COUNT: Final = 2**31 - 1
"""The greatest number of a chunk, an offset or a count: Lucene counts in 32 bits."""

DEFAULT_WAIT: Final = 10.0
"""Seconds that a writer waits for another one to end."""

DEFAULT_MAX_MEGABYTES: Final = 50.0
"""Largest file that is read as a document, in units of 10⁶ bytes."""
