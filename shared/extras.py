"""Extras of the distribution: libraries that only some need."""

from shared.errors import McpLuceneError


class ExtraMissingError(McpLuceneError):
    """A library that only some need is not installed.

    Args:
        command: what needs it.
        extra: the name of the extra of the distribution that it is part of.
        library: the name that it is imported by.
    """

    def __init__(self, command: str, extra: str, library: str) -> None:
        super().__init__(
            f'{command} needs the extra "{extra}" (there is no {library})',
            f'install it with: pip install "mcp-lucene[{extra}]", in a checkout pip install -e '
            f'".[{extra}]"',
        )
