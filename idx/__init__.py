"""Command line `idx`, which writes and searches the index."""

import sys

# pip checks this, but not for a folder on PYTHONPATH.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit("Error: idx needs Python 3.11 or newer; this is Python " + sys.version.split()[0])
