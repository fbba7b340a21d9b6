"""The address of a server that serves language models: what may be in it."""

from urllib.parse import urlsplit

from shared.settings import NORMALIZER_API_KEY_VARIABLE


def url_problem(url: str) -> str | None:
    """What is wrong with the address of a server, without repeating it; None if nothing is."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        is_address = False
    if not is_address:
        return "the value should be an address such as http://localhost:11434/v1"
    if parts.username or parts.password or parts.query or parts.fragment:
        return (
            "an address here has no user, password, question mark or fragment; "
            f"a key belongs in the variable {NORMALIZER_API_KEY_VARIABLE}"
        )
    return None
