"""The documentation of the JSON API for people, made of its description."""

from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from server.pages.rendering import page

router = APIRouter(include_in_schema=False)

DOCUMENTATION_PATH: Final = "/api/docs"

_TAGS: Final = {
    "search": "Search",
    "documents": "Documents",
    "administration": "Administration",
    "established": "As other search services",
}
"""Titles of the groups of endpoints, in their order on the page; others follow."""


@router.get(DOCUMENTATION_PATH)
async def documentation(request: Request) -> Response:
    """Describe each endpoint with its parameters and answers."""
    return page(request, "documentation", groups=_groups(request.app.openapi()))


def _groups(description: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the endpoints of an OpenAPI description in groups, each with its title."""
    groups: dict[str, list[dict[str, Any]]] = {title: [] for title in _TAGS.values()}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            name = (operation.get("tags") or ["other"])[-1]
            groups.setdefault(_TAGS.get(name, name.capitalize()), []).append(
                {
                    "method": method.upper(),
                    "path": path,
                    "text": operation.get("description", ""),
                    "parameters": [
                        {
                            "name": parameter["name"],
                            "where": parameter["in"],
                            "is_required": parameter.get("required", False),
                            "text": _text(parameter),
                            "type": _type(parameter.get("schema", {})),
                            "default": parameter.get("schema", {}).get("default"),
                        }
                        for parameter in operation.get("parameters", [])
                    ],
                    "body": _fields(_schema(description, operation.get("requestBody", {}))),
                }
            )
    return [(title, endpoints) for title, endpoints in groups.items() if endpoints]


def _text(parameter: dict[str, Any]) -> str:
    schema = parameter.get("schema", {})
    return str(parameter.get("description") or schema.get("description") or "")


def _schema(description: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a JSON body, with its reference resolved; empty without one."""
    content = body.get("content", {}).get("application/json", {})
    schema: dict[str, Any] = content.get("schema", {})
    if reference := schema.get("$ref"):
        return dict(description["components"]["schemas"][reference.rpartition("/")[2]])
    return schema


def _fields(schema: dict[str, Any]) -> list[dict[str, Any]]:
    required = schema.get("required", [])
    return [
        {
            "name": name,
            "where": "body",
            "is_required": name in required,
            "text": field.get("description", ""),
            "type": _type(field),
            "default": field.get("default"),
        }
        for name, field in schema.get("properties", {}).items()
    ]


def _type(schema: dict[str, Any]) -> str:
    """Return the type of a value in words."""
    if options := schema.get("anyOf"):
        return " or ".join(_type(option) for option in options)
    if values := schema.get("enum"):
        return ", ".join(map(str, values))
    if schema.get("type") == "array":
        return f"{_type(schema.get('items', {}))}, repeatable"
    return str(schema.get("type", "any"))
