"""Options of a list of documents: light, since the command line builds its own from them."""

from typing import Literal

DocumentSort = Literal[
    "source_document",
    "-source_document",
    "modified",
    "-modified",
    "title",
    "-title",
    "chunks",
    "-chunks",
]
"""What a list of documents is sorted by; with a minus the greatest value comes first.

Documents with equal values come in the order of their ids, those without ``modified`` last. Case
and accents of titles are ignored.
"""

BY_ID: DocumentSort = "source_document"
"""The default order: that of the ids."""
