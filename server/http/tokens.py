"""The server's own bearer tokens, from a file or from the environment.

Each token has a name, which identifies it in logs and sessions, and scopes. Only hashes of tokens
are kept, and a presented token is compared with all of them in constant time.
"""

import hashlib
import hmac
import os
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from server.settings import COLLECTION_SCOPE, SCOPES, Scope, ServerOptionError, limit_of
from shared.settings.defaults import TOKENS_VARIABLE
from shared.system import others_may_read

MIN_TOKEN_CHARACTERS: Final = 32  # of a token: as hexadecimal digits they hold 128 random bits


@dataclass(frozen=True)
class Token:
    name: str
    scopes: frozenset[Scope]
    digest: bytes
    collections: frozenset[str] = frozenset()

    @property
    def granted(self) -> list[str]:
        return sorted([*self.scopes, *(COLLECTION_SCOPE + name for name in self.collections)])


def find(tokens: Iterable[Token], presented: str) -> Token | None:
    """Return the token that was presented, or None if it is unknown.

    The time taken does not depend on which token matches.
    """
    digest = _digest(presented)
    found = None
    for token in tokens:
        if hmac.compare_digest(token.digest, digest):
            found = token
    return found


def read_tokens(file: Path | None, collections: Container[str] = ()) -> tuple[Token, ...]:
    """Return the tokens of a file, or of the environment if there is no file."""
    if file is not None:
        tokens = tuple(_parsed(_lines(file), str(file), collections))
        if not tokens:
            raise ServerOptionError(f"{file}: there are no tokens; a line is NAME:SCOPES:TOKEN")
    else:
        tokens = tuple(
            _parsed(os.environ.get(TOKENS_VARIABLE, "").split(), TOKENS_VARIABLE, collections)
        )
    if len({token.digest for token in tokens}) < len(tokens):
        raise ServerOptionError(f"{file or TOKENS_VARIABLE}: two tokens are the same")
    limits = {(token.name, token.collections) for token in tokens}
    if len(limits) > len({name for name, _ in limits}):
        # Sessions belong to the name, with the notifications that they have subscribed to.
        raise ServerOptionError(
            f"{file or TOKENS_VARIABLE}: tokens with the same name must be limited to the same "
            "collections; give them different names"
        )
    return tokens


def _lines(file: Path) -> list[str]:
    try:
        with file.open(encoding="utf-8") as opened:
            # `fstat` examines the open file, not the path, which may name another file by now.
            if others_may_read(os.fstat(opened.fileno())):
                raise ServerOptionError(
                    f"{file} holds tokens, and others may read or change it; run: chmod 600 {file}"
                )
            return opened.read().splitlines()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ServerOptionError(f"the tokens in {file} cannot be read: {reason}") from error


def _parsed(lines: Iterable[str], source: str, collections: Container[str]) -> Iterator[Token]:
    for number, text in enumerate(lines, start=1):
        line = text.strip()
        if not line or line.startswith("#"):
            continue
        # Error messages leave out the line, which holds a secret.
        name, _, rest = line.partition(":")
        listed, _, token = rest.partition(":")
        asked = frozenset(listed.split(","))
        limit = limit_of(asked) or frozenset()
        scopes = {scope for scope in asked if not scope.startswith(COLLECTION_SCOPE)}
        if not (name and token) or not token.isascii() or not token.isprintable() or " " in token:
            raise ServerOptionError(f"{source}, line {number}: a line is NAME:SCOPES:TOKEN")
        if not scopes <= SCOPES:
            raise ServerOptionError(
                f"{source}, line {number}: the scopes are {', '.join(sorted(SCOPES))} and "
                f"{COLLECTION_SCOPE}NAME, with a comma between them"
            )
        if unknown := sorted(name for name in limit if name not in collections):
            raise ServerOptionError(
                f"{source}, line {number}: there is no collection {unknown[0][:60]!r}; "
                "idx collections list shows those of the configuration"
            )
        if limit and "admin" in scopes:
            raise ServerOptionError(
                f"{source}, line {number}: a token that is limited to collections cannot have the "
                "scope admin, which changes the whole index"
            )
        if len(token) < MIN_TOKEN_CHARACTERS:
            raise ServerOptionError(
                f"{source}, line {number}: the token of {name[:60]} is shorter than "
                f"{MIN_TOKEN_CHARACTERS} characters; make one with: openssl rand -hex 32"
            )
        granted = frozenset(scope for scope in SCOPES if scope in scopes)
        yield Token(name, granted, _digest(token), limit)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
