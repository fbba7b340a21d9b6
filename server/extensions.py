"""What extensions of the protocol publish beside the index: a page for chats, and a skill.

Both are files of this package, which clients read as resources. MCP Apps (SEP-1865) show the hits
of `Search` on the page, within the chat; the skill (SEP-2640) tells a model when to search, how to
read on, and how to cite.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

from mcp import MCPError, types
from mcp.server.apps import APP_MIME_TYPE
from mcp.server.context import ServerRequestContext
from mcp.server.extension import Extension, MethodBinding

APP_URI: Final = "ui://mcp-lucene/hits"
TOOLS_OF_APP: Final = frozenset({"get_document_chunks", "show_page"})  # that its buttons call

SKILL_URI: Final = "skill://search-documents/SKILL.md"

_TTL_MILLISECONDS: Final = 3_600_000
_CACHEABLE: Final = {"resultType": "complete", "ttlMs": _TTL_MILLISECONDS, "cacheScope": "public"}


@cache
def published() -> Mapping[str, tuple[str, str]]:
    """Return what is published, by its URI: a text and its media type."""
    server = files("server")
    style = server.joinpath("pages/static/pages.css").read_text("utf-8")
    page = server.joinpath("resources/app.html").read_text("utf-8")
    # One file, which loads nothing.
    page = page.replace("/* pages.css */", style)
    skill = server.joinpath("skills/search-documents/SKILL.md").read_text("utf-8")
    return {
        APP_URI: (page, APP_MIME_TYPE),
        SKILL_URI: (skill, "text/markdown"),
    }


class Skills(Extension):
    identifier = "io.modelcontextprotocol/skills"

    def methods(self) -> Sequence[MethodBinding]:
        return (
            MethodBinding("skills/list", types.PaginatedRequestParams, self._list),
            MethodBinding("skills/get", types.ReadResourceRequestParams, self._get),
        )

    async def _list(
        self, _: ServerRequestContext[Any, Any], __: types.PaginatedRequestParams
    ) -> dict[str, Any]:
        return {**_CACHEABLE, "skills": [_skill()]}

    async def _get(
        self, _: ServerRequestContext[Any, Any], parameters: types.ReadResourceRequestParams
    ) -> dict[str, Any]:
        if parameters.uri != SKILL_URI:
            raise MCPError(types.INVALID_PARAMS, f"the only skill of this server is {SKILL_URI}")
        return {**_CACHEABLE, "skill": _skill()}


@cache
def _skill() -> dict[str, Any]:
    """Return the entry of the skill: what stands before its text, and the hash of its file."""
    text, _ = published()[SKILL_URI]
    content = text.encode()
    lines = text.split("---\n")[1].splitlines()
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return {
        "uri": SKILL_URI,
        "frontmatter": dict(line.split(": ", 1) for line in lines),
        "resources": [{"uri": SKILL_URI, "digest": digest, "size": len(content)}],
    }
