"""Opening of a PDF in PDFium, with a password if necessary."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from idx.errors import SourceFileError


@contextmanager
def opened_pdf(file: Path, data: bytes, password: str | None) -> Iterator[tuple[Any, str | None]]:
    """Open a PDF, and close it at the end of the block.

    Args:
        file: the file, for messages.
        data: its bytes.
        password: a password to try if the file cannot be opened without one.

    Yields:
        The document of PDFium, and the password if it was needed.

    Raises:
        SourceFileError: the password is wrong or missing, or the file is damaged, which PDFium may
            detect later.
    """
    from pypdfium2 import PdfiumError, raw

    reasons = {
        raw.FPDF_ERR_SUCCESS: "is a damaged PDF: it has no pages",
        raw.FPDF_ERR_FORMAT: "is a damaged PDF: it has no pages, or they cannot be found",
        raw.FPDF_ERR_PASSWORD: "protected by a password; "
        + (
            "give it with --pdf-password"
            if password is None
            else "the password given does not open it"
        ),
        raw.FPDF_ERR_SECURITY: "is encrypted by a method that is not supported",
    }
    try:
        document, used = _open(data, password)
        with document:
            yield document, used
    except PdfiumError as error:
        reason = reasons.get(error.err_code, f"is a damaged PDF: {error}")
        raise SourceFileError(file, reason) from error


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
