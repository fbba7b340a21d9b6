"""What a search can be asked for: light, for the command line builds its options from it."""

from typing import Literal

Content = Literal["full", "passages", "none"]
"""How much text a hit carries: all of it, the parts around the matches, or none."""

Operator = Literal["or", "and"]
"""Whether one word of a query is enough or all are needed."""

Syntax = Literal["auto", "lucene", "plain"]
"""How a query is read: by rule, as Lucene's syntax to the letter, or as words only."""
