"""Values of the form fields of a PDF, which are not part of the page's text."""

import ctypes
from collections.abc import Callable, Iterator
from typing import Any, Final

_PASSWORD_FLAG: Final = 1 << 13
"""Flag of a text field whose value is a password (ISO 32000-1, 12.7.4.3)."""


def read_fields(page: Any, form: Any) -> str:
    """Return the values of the text and choice fields of a page, one field per line.

    Args:
        page: a page of PDFium, loaded after its document's forms.
        form: the form environment of its document.

    Returns:
        Each value after the display name of its field, if there is one; passwords and empty fields
        are omitted.
    """
    return "\n".join(_fields(page, form))


def _fields(page: Any, form: Any) -> Iterator[str]:
    from pypdfium2 import raw

    kinds = (
        raw.FPDF_FORMFIELD_TEXTFIELD,
        raw.FPDF_FORMFIELD_COMBOBOX,
        raw.FPDF_FORMFIELD_LISTBOX,
    )
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            # Other annotations have a type that is not listed.
            kind = raw.FPDFAnnot_GetFormFieldType(form, annotation)
            if kind not in kinds:
                continue
            is_text = kind == raw.FPDF_FORMFIELD_TEXTFIELD
            if is_text and raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD_FLAG:
                continue
            value = "" if is_text else _choices(form, annotation)
            # Text typed into a field with choices is not one of the choices.
            value = value or _string(raw.FPDFAnnot_GetFormFieldValue, form, annotation)
            name = _string(raw.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
            if value:
                yield f"{name}: {value}" if name else value
        finally:
            raw.FPDFPage_CloseAnnot(annotation)


def _choices(form: Any, annotation: Any) -> str:
    """Return the labels of the selected choices, since their values may be codes."""
    from pypdfium2 import raw

    return ", ".join(
        _string(raw.FPDFAnnot_GetOptionLabel, form, annotation, index)
        for index in range(raw.FPDFAnnot_GetOptionCount(form, annotation))
        if raw.FPDFAnnot_IsOptionSelected(form, annotation, index)
    )


def _string(function: Callable[..., int], *arguments: Any) -> str:
    """Return the text that a function of PDFium writes into a buffer as null-terminated UTF-16."""
    from pypdfium2 import raw

    size = function(*arguments, None, 0)
    buffer = ctypes.create_string_buffer(size)
    function(*arguments, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), size)
    return buffer.raw.decode("utf-16-le", errors="ignore").rstrip("\0").strip()
