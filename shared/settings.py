"""What both programs read from the environment, with its default.

An option on the command line beats the variable, the variable beats the default.
"""

from pathlib import Path
from typing import Final

INDEX_PATH_VARIABLE: Final = "IDX_INDEX_PATH"
"""Names the index folder."""

DEFAULT_INDEX_PATH: Final = Path("lucene-index")
"""In the folder where the program was started."""

DEFAULT_WAIT: Final = 10.0
"""Seconds that a writer waits for another one to end."""

DEFAULT_MAX_MEGABYTES: Final = 50.0
"""Largest file that is read as a document, in units of 10⁶ bytes."""
