"""What was read and listed of resources, and that no answer is too long."""

from mcp import Client
from mcp.types import Resource, TextResourceContents
from pydantic import BaseModel


async def read(client: Client, uri: str) -> TextResourceContents:
    result = await client.read_resource(uri)
    assert_brief(result)
    (contents,) = result.contents
    assert isinstance(contents, TextResourceContents)
    assert contents.uri == uri
    return contents


def assert_brief(result: BaseModel, most: int = 40_000) -> None:
    assert len(result.model_dump_json(by_alias=True, exclude_none=True)) < most


async def listed(client: Client) -> list[Resource]:
    resources: list[Resource] = []
    cursor = None
    while True:
        page = await client.list_resources(cursor=cursor)
        assert_brief(page)
        assert page.resources
        resources += page.resources
        cursor = page.next_cursor
        if cursor is None:
            return resources
