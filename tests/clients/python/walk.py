"""Reads on through a document with the client of fastmcp, and prints what it was told.

Run as ``walk.py ERA URL`` or ``walk.py ERA COMMAND ARGUMENT…``, where the era is ``legacy`` or a
version of the protocol.
"""

import asyncio
import json
import os
import sys
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def main(era: str, target: str, *arguments: str) -> None:
    transport = (
        target
        if target.startswith("http")
        else StdioTransport(target, list(arguments), env=dict(os.environ))
    )
    async with Client(transport, mode=era) as client:

        async def call(tool: str, **given: Any) -> Any:
            return (await client.call_tool(tool, given)).structured_content

        tools = await client.list_tools()
        found = await call("Search", query="word3", limit=1)
        ids = [found["results"][0]["id"]]
        for _ in range(3):
            ids.append((await call("get_next_chunk", chunk_id=ids[-1]))["chunk"]["id"])
        document = (await client.read_resource("document://manual"))[0].text
    told = {"tools": [tool.name for tool in tools], "ids": ids, "document": document}
    sys.stdout.write(json.dumps(told))


asyncio.run(main(*sys.argv[1:]))
