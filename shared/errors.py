"""Errors that both programs can meet.

Each says what happened, to what, and what to do next, by a command of `idx`: whoever has this
library has the command line, too. A client of the server, which has neither, is told what to ask
its user for: see `McpLuceneError.client_message`.

Errors of one program live with it: `idx.errors`, `idx.clients.catalogue`, `server.settings`,
`server.answers.errors`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

from shared.messages import decodable, listed, nearest
from shared.system.shell import quoted

FOR_CLIENT_VARIABLE: Final = "MCP_LUCENE_FOR_CLIENT"
"""Environment variable set for `idx` by a server that runs it, whose client reads the messages."""


class McpLuceneError(Exception):
    """Base of every error that this project raises on purpose.

    Its message ends with the remedy, the next step to take, if there is one.
    """

    def __init__(self, problem: str, remedy: str = "", client_remedy: str | None = None) -> None:
        self.problem = problem
        self.remedy = remedy
        self._client_remedy = client_remedy
        super().__init__(self.message(remedy))

    def message(self, remedy: str) -> str:
        """Return the message with a remedy, such as a command."""
        return f"{self.problem}; {remedy}" if remedy else self.problem

    def client_message(self) -> str:
        """Return the message for a client of the server, which can only ask its user."""
        if self._client_remedy is not None:
            return self.message(self._client_remedy)
        return self.message(f"ask the user to {self.remedy}" if self.remedy else "")


class InstallationError(McpLuceneError):
    """Lucene or Java is not installed as this project needs it."""


class JavaStartError(McpLuceneError):
    """The Java virtual machine that runs Lucene could not be started."""


class JavaHeapError(McpLuceneError):
    """A call needed more than the `heap` MiB of memory that Java may use."""

    def __init__(self, path: Path, heap: int, help_: str) -> None:
        more = "allow more with IDX_JAVA_HEAP or the setting java_heap"
        super().__init__(
            f"the {heap} MiB of memory that Java may use are too small for work on the index at "
            f"{path}",
            f"{help_}, or {more}",
            f"{help_}, or ask the user to {more}",
        )


class LuceneError(McpLuceneError):
    """Lucene failed in a way that no other error describes."""


class ConfigurationError(McpLuceneError):
    """The configuration file or an environment variable cannot be used."""

    def __init__(self, source: str | Path, reason: str) -> None:
        super().__init__(f"{source}: {reason}")


# The index folder

_NEW_INDEX: Final = "create a new one with idx init in another folder and add the documents again"


def _upgrade() -> str:
    from shared.installation import upgrade_command

    return f"install the version of mcp-lucene that wrote it, or a newer one: {upgrade_command()}"


class IndexFolderError(McpLuceneError):
    """Base of errors about an index folder.

    Attributes:
        path: the folder.
    """

    def __init__(
        self, path: Path, problem: str, remedy: str = "", client_remedy: str | None = None
    ) -> None:
        super().__init__(problem, remedy, client_remedy)
        self.path = path


class PassingError(IndexFolderError):
    """Base of errors that may pass without a change of the request or of the settings.

    What failed is undone, so that it can be tried again later.
    """


class IndexMissingError(IndexFolderError):
    """There is no index at the path."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path,
            f"there is no index at {path}",
            f"create one with: idx init --index-path {quoted(str(path))}",
        )


class ClusterUnreachableError(PassingError):
    """The cluster of an index does not answer, or not in the protocol that was expected."""

    def __init__(self, path: Path, reason: str, help_: str = "") -> None:
        super().__init__(
            path,
            f"the cluster of {path} does not answer: {reason}",
            help_ or "check the address, and that the cluster runs",
        )


class ClusterAccessError(IndexFolderError):
    """The cluster of an index refuses whoever asks."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            path,
            f"the cluster of {path} refuses access: {reason}",
            "set IDX_OPENSEARCH_USER and IDX_OPENSEARCH_PASSWORD, or IDX_OPENSEARCH_TOKEN, of a "
            "user with rights on the index",
            "ask the user to check the credentials of the server",
        )


class ClusterRefusedError(IndexFolderError):
    """The cluster of an index did not do what it was asked."""

    def __init__(self, path: Path, reason: str, help_: str = "") -> None:
        super().__init__(path, f"the cluster of {path} refused: {reason}", help_)


class ClusterBusyError(ClusterRefusedError, PassingError):
    """The cluster of an index did not do what it was asked, since others changed the index."""


class ClusterDamagedError(IndexFolderError):
    """An index on a cluster is not as this project left it."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            path,
            f"the index at {path} is damaged: {reason}",
            "restore a snapshot of the cluster, or delete the index and add the documents again",
        )


class ClusterVersionError(IndexFolderError):
    """The program at the address is not a version of OpenSearch that fits."""

    def __init__(self, path: Path, found: str, needed: str) -> None:
        super().__init__(
            path,
            f"at the address of {path} there is {found}, but {needed} is needed",
            "use a cluster of that version",
        )


class IndexPathError(IndexFolderError):
    """The path cannot be used for an index: it is a file, or the file system refuses access."""

    def __init__(self, path: Path, reason: str, help_: str = "") -> None:
        super().__init__(
            path,
            f"the index folder {path} cannot be used: {reason}",
            help_ or "choose another folder with --index-path, or fix its permissions",
            "ask the user to fix its permissions, or to start the server with another folder",
        )


class IndexFileError(IndexFolderError):
    """A file in an index folder or a backup was not written by this project."""

    def __init__(self, path: Path, name: str, reason: str, help_: str = "") -> None:
        super().__init__(
            path,
            f"the file {decodable(name)} in {path} cannot be used: {reason}",
            "no other program should write into that folder: delete the file"
            f"{help_ or ', or choose another folder'}",
            "ask the user to delete the file: no other program should write into that folder",
        )


class IndexWriteError(PassingError):
    """Writing failed, for example on a full disk; the last commit is intact if there is one."""

    def __init__(self, path: Path, reason: str, *, is_new: bool = False) -> None:
        kept = "there is no index yet" if is_new else "the index still has its last commit"
        super().__init__(
            path,
            f"writing to the index at {path} failed: {reason}; {kept}",
            "free some space or choose another folder, then try again",
        )


class IndexLuceneVersionError(IndexFolderError):
    """The index was written by a Lucene version that the installed one cannot read."""

    def __init__(self, path: Path, written_by: str, installed: str, *, newer: bool = False) -> None:
        super().__init__(
            path,
            f"the index at {path} was written by {written_by} and cannot be read by "
            f"Lucene {installed}",
            _upgrade() if newer else _NEW_INDEX,
        )


class IndexSchemaError(IndexFolderError):
    """The index is a Lucene index, but not of the `expected` schema version.

    `rebuilds` is true if the text stored in it can be indexed again.
    """

    def __init__(
        self, path: Path, found: str, expected: int, *, rebuilds: bool = False, newer: bool = False
    ) -> None:
        remedy = _upgrade() if newer else _NEW_INDEX
        if rebuilds:
            command = f"idx rebuild --index-path {quoted(str(path))}"
            remedy = f"rebuild it from its stored text with: {command}"
        super().__init__(
            path,
            f"the index at {path} has {found}, but this version of mcp-lucene works with schema "
            f"version {expected}",
            remedy,
        )
        self.rebuilds = rebuilds


class IndexLockedError(PassingError):
    """Another writer holds the lock of the index."""

    def __init__(self, path: Path, holder: str, waited: float | None = None) -> None:
        problem = f"the index at {path} is locked by another writer, {holder}"
        remedy = "the lock ends with that process: let it end, or end it"
        if waited is not None:
            problem += f" (waited {waited:g} s)"
            remedy = "wait for it to end, or longer with --wait SECONDS"
        super().__init__(
            path,
            problem,
            remedy,
            "try again after that process has ended, or ask the user to end it",
        )


class IndexDamagedError(IndexFolderError):
    """Files of the index are missing, cut short or changed; `reason` names them or the damage."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            path,
            f"the index at {path} is damaged: {reason}",
            "find out more with idx check, restore a backup with idx restore, save the rest with "
            f"idx repair, or {_NEW_INDEX}",
        )
        self.reason = reason


class PartDamagedError(IndexFolderError):
    """A part of an index, such as a file or a segment, is damaged; a check reports it."""

    def __init__(self, path: Path, part: str, damage: str = "") -> None:
        super().__init__(
            path,
            f"{part}: {damage}" if damage else part,
            "restore a backup with idx restore, or save the rest with idx repair",
        )


class DocumentDamagedError(IndexFolderError):
    """The chunks of a document are incomplete or contradictory; a check reports it."""

    def __init__(self, path: Path, source_document: str, damage: str) -> None:
        super().__init__(
            path,
            f"document {source_document[:200]!r}: {damage}",
            "remove it with idx delete or idx repair, and add it again",
        )


class BackupError(McpLuceneError):
    """A backup cannot be written, or cannot be restored."""


# Documents and the files they come from


class InvalidDocumentError(McpLuceneError):
    """A document's id, title, text or metadata cannot be indexed."""


class InvalidTextError(McpLuceneError):
    """A text contains half of a surrogate pair, which is not a character."""

    def __init__(self, text: str, position: int) -> None:
        super().__init__(
            f"{text[:80]!r} is not valid Unicode: a lone surrogate at character {position}"
        )


class DocumentNotFoundError(McpLuceneError):
    """The index has no document with the id."""

    def __init__(self, source_document: str, near: Sequence[str] = ()) -> None:
        super().__init__(
            f"no document has the id {source_document[:80]!r}",
            f"{_did_you_mean(near)}list the ids with idx list",
        )
        self.suggestion = _did_you_mean(near)


class ChunkNotFoundError(McpLuceneError):
    """The index has no chunk with the id."""

    def __init__(self, chunk_id: str, near: Sequence[str] = ()) -> None:
        super().__init__(
            f"no chunk has the id {chunk_id[:80]!r}; {_did_you_mean(near)}its document may have "
            "been deleted or changed: search again"
        )


def _did_you_mean(near: Sequence[str]) -> str:
    return f"did you mean {' or '.join(repr(name[:200]) for name in near)}? Or " if near else ""


# Queries


class QueryError(McpLuceneError):
    """A query that Lucene can parse but that cannot be run."""


class QueryParseError(QueryError):
    """A query that is not valid in Lucene's classic query syntax; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"Parse error: {reason}; escape a special character with a backslash, or search for "
            'the whole query as text with the syntax "plain"'
        )
        self.reason = reason


class FilterError(McpLuceneError):
    """A filter names an unknown field or operator, or has a value of the wrong type."""


class FieldNotFoundError(McpLuceneError):
    """The index has no field with terms by that name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        near = listed(nearest(name, known))
        hint = f"did you mean {near!r}? The fields are" if near else "the fields are"
        help_ = f"{hint} {listed(known)}" if known else "the index has no documents yet"
        super().__init__(f"no document has a field {name[:80]!r} with terms; {help_}")


class LanguageModelError(McpLuceneError):
    """A language model returned nothing to search for; the search continues without it."""


class LanguageModelBusyError(LanguageModelError):
    """A language model's server is overloaded or out of order, and may answer a later request."""

    def __init__(self, problem: str, remedy: str = "", retry_after: float = 0.0) -> None:
        super().__init__(problem, remedy)
        self.retry_after = retry_after


class SemanticModelError(McpLuceneError):
    """A sentence model is missing, damaged, unsafe or unsuitable."""

    def __init__(self, name: str, reason: str, remedy: str = "") -> None:
        super().__init__(f"the sentence model {name} cannot be used: {reason}", remedy)
        self._arguments = (name, reason, remedy)

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, str]]:
        # Worker processes raise it.
        return type(self), self._arguments


class ExtraMissingError(McpLuceneError):
    """An optional library is not installed.

    Args:
        feature: the command or function that needs it.
        extra: the extra of the distribution that installs it.
        library: its import name.
    """

    def __init__(self, feature: str, extra: str, library: str) -> None:
        from shared.installation import extra_command

        super().__init__(
            f'{feature} needs the extra "{extra}" ({library} is not installed)',
            f"install it with: {extra_command(extra)}",
        )
