"""What is published beside the index: the skill, the plugin, links that install, and an icon."""

import base64
import hashlib
import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import yaml
from mcp.types import TextResourceContents

from server.extensions import APP_URI, SKILL_URI
from server.tools.table import TOOLS
from shared.installation import software_version
from tests.conftest import Connect
from tests.server.raw_client import MODERN, RawClient

ROOT = Path(__file__).parents[2]


def test_the_skill_is_the_one_that_its_entry_describes(empty_index: Path) -> None:
    client = RawClient(empty_index)
    found = client.request("server/discover", _meta=MODERN)["result"]
    assert {"io.modelcontextprotocol/skills", "io.modelcontextprotocol/ui"} == found[
        "capabilities"
    ]["extensions"].keys()
    (icon,) = found["_meta"]["io.modelcontextprotocol/serverInfo"]["icons"]
    assert b"<svg" in base64.b64decode(icon["src"].partition("base64,")[2])
    listed = client.request("skills/list", _meta=MODERN)["result"]
    assert {"resultType", "ttlMs", "cacheScope"} < listed.keys()
    (skill,) = listed["skills"]
    assert client.request("skills/get", uri=SKILL_URI, _meta=MODERN)["result"]["skill"] == skill
    refused = client.request("skills/get", uri="skill://none/SKILL.md", _meta=MODERN)
    assert refused["error"]["code"] == -32602
    read = client.request("resources/read", uri=SKILL_URI, _meta=MODERN)["result"]
    (content,) = read["contents"]
    client.end()
    assert content["mimeType"] == "text/markdown"
    text = content["text"].encode()
    (file,) = skill["resources"]
    digest = f"sha256:{hashlib.sha256(text).hexdigest()}"
    assert file == {"uri": SKILL_URI, "digest": digest, "size": len(text)}
    _, head, body = content["text"].split("---\n", 2)
    assert skill["frontmatter"] == yaml.safe_load(head)
    assert f"skill://{skill['frontmatter']['name']}/SKILL.md" == SKILL_URI
    assert len(skill["frontmatter"]["description"]) <= 1024
    named = set(re.findall(r"`([a-z]+_[a-z_]+|Search)`", body)) - {"low_confidence"}
    assert named - {"source_document", "chunk_index", "file_path"} <= TOOLS.keys()


async def test_a_client_of_the_older_protocol_reads_the_page_and_sees_the_icon(
    empty_index: Path, connect: Connect
) -> None:
    async with connect(mode="legacy") as client:
        assert client.server_info
        assert client.server_info.icons
        (content,) = (await client.read_resource(APP_URI)).contents
        (linked,) = (tool for tool in (await client.list_tools()).tools if tool.meta)
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == "text/html;profile=mcp-app"
    assert linked.name == "Search"
    assert linked.meta == {"ui": {"resourceUri": APP_URI}}
    # It may load nothing, whatever a host allows.
    assert not re.search(r"(src|href)=[\"'](?!data:)|https?://|@import|url\(", content.text)


def test_the_plugin_has_the_server_and_the_skill() -> None:
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    (plugin,) = market["plugins"]
    assert plugin["version"] == software_version()
    (skill,) = plugin["skills"]
    assert (ROOT / skill / "SKILL.md").is_file()
    assert plugin["mcpServers"] == {"mcp-lucene": {"command": "mcp-lucene"}}


def test_the_links_of_the_readme_install_the_server() -> None:
    text = (ROOT / "README.md").read_text()
    links = re.findall(r"\((https://[^)]*(?:install-mcp|mcp/install)[^)]*)\)", text)
    assert len(links) == 3
    for link in links:
        (config,) = parse_qs(urlsplit(link).query)["config"]
        plain = config if config.startswith("{") else base64.b64decode(config).decode()
        assert json.loads(plain) == {"command": "mcp-lucene", "args": []}


def test_the_list_of_pages_for_models_is_that_for_people() -> None:
    pages = (ROOT / "docs" / "index.md").read_text().split("\n", 3)[3]
    assert (ROOT / "docs" / "llms.txt").read_text().endswith(pages)
