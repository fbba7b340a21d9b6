"""Opening of a PDF in PDFium, with a password if necessary."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class PdfError(ValueError):
    """A PDF cannot be opened, or a part of it cannot be read."""

    def __init__(self, reason: str, *, needs_password: bool = False) -> None:
        super().__init__(reason)
        self.needs_password = needs_password


@contextmanager
def opened_pdf(data: bytes, password: str | None) -> Iterator[tuple[Any, str | None]]:
    """Open a PDF, and close it at the end of the block.

    Yields the document of PDFium, and the password if it was needed.
    """
    from pypdfium2 import PdfiumError, raw

    reasons = {
        raw.FPDF_ERR_SUCCESS: "is a damaged PDF: it has no pages",
        raw.FPDF_ERR_FORMAT: "is a damaged PDF: it has no pages, or they cannot be found",
        raw.FPDF_ERR_PASSWORD: "protected by a password",
        raw.FPDF_ERR_SECURITY: "is encrypted by a method that is not supported",
    }
    try:
        document, used = _open(data, password)
        with document:
            yield document, used
    except PdfiumError as error:
        reason = reasons.get(error.err_code, f"is a damaged PDF: {error}")
        needs_password = error.err_code == raw.FPDF_ERR_PASSWORD
        raise PdfError(reason, needs_password=needs_password) from error


def _open(data: bytes, password: str | None) -> tuple[Any, str | None]:
    from pypdfium2 import PdfDocument, PdfiumError, raw

    try:
        # With a wrong password, PDFium refuses even files that can be read without one.
        return PdfDocument(data), None
    except PdfiumError as error:
        if error.err_code != raw.FPDF_ERR_PASSWORD or password is None:
            raise
    # PDFium does not accept lone surrogates, and no password of a PDF contains them.
    return PdfDocument(data, password=password.encode(errors="replace").decode()), password
