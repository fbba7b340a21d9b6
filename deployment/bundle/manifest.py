"""The manifest of a bundle, made from `deployment/manifest.json`."""

import json
from pathlib import Path
from typing import Any, Final

from deployment.bundle.platforms import Platform

TEMPLATE: Final = Path(__file__).parents[1] / "manifest.json"

PYTHON_FOLDER: Final = "server/python"


def manifest(platform: Platform) -> dict[str, Any]:
    """Return the template with the system and the program of a platform."""
    content: dict[str, Any] = json.loads(TEMPLATE.read_text("utf-8"))
    program = f"{PYTHON_FOLDER}/{platform.python}"
    content["server"]["entry_point"] = program
    content["server"]["mcp_config"]["command"] = f"${{__dirname}}/{program}"
    content["compatibility"]["platforms"] = [platform.system]
    return content
