"""How text becomes terms, at indexing and at search time alike."""

import shared.java  # noqa: F401 - makes the packages org and java importable
