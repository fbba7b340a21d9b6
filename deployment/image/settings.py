"""How containers of the image run, as in the `config` of OCI images."""

from typing import Any, Final

HOME: Final = "opt/mcp-lucene"
"""The folder of the programs, in the image."""

USER: Final = 10001

CONFIG: Final[dict[str, Any]] = {
    "User": f"{USER}:{USER}",
    "Env": [
        f"PATH=/{HOME}/bin:/usr/local/bin:/usr/bin:/bin",
        "IDX_INDEX_PATH=/index",
        "LANG=C.UTF-8",
        "PYTHONDONTWRITEBYTECODE=1",
    ],
    "Entrypoint": ["mcp-lucene"],
    "Volumes": {"/index": {}},
    "WorkingDir": "/home/lucene",
    "StopSignal": "SIGTERM",
}
