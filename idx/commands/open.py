"""Command `idx open`."""

from typing import Annotated

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath


def open_page(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORD]...",
            help="Words to search for at once. Put -- before words that begin with a minus.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(min=0, max=65_535, help="Port of the page; 0 selects a free one."),
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address only.")
    ] = False,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
) -> None:
    """Open the search page of the index in the browser.

    A server runs on this machine until Ctrl-C ends it; other machines cannot reach it.

    Examples: idx open; idx open vacation days
    """
    import webbrowser
    from urllib.parse import urlencode

    from idx.clients.page_server import running
    from idx.output.printing import say, warn
    from shared.backends import holds_index

    if not holds_index(index_path):
        warn(f"there is no index at {index_path} yet; the page shows it once idx sync made it")
    with running(index_path, port) as server:
        query = " ".join(words or ())
        address = server.address + (f"?{urlencode({'q': query})}" if query else "")
        typer.echo(address)
        if not no_browser and not webbrowser.open(address):
            say("No browser could be opened; open the address yourself.")
        say("Ctrl-C ends the server.")
        for line in server.messages:
            say(line)
        server.refuse_end()
