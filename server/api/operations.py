"""Endpoint for operations that change the index."""

from fastapi import APIRouter
from starlette.responses import Response

from server.administration.results import OperationStatus
from server.api.access import Administrator
from server.api.reading import as_json

router = APIRouter(prefix="/api/operations", tags=["administration"])


@router.get("/{operation_id}", response_model=OperationStatus)
async def operation_status(administration: Administrator, operation_id: str) -> Response:
    """Report the progress of a rebuild, a crawl or another operation, and its outcome."""
    return as_json(administration.operations.find(operation_id).status())
