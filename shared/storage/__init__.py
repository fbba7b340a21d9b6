"""The index on disk: its folder, files, lock and commits, and documents as Lucene stores them."""

import shared.java  # noqa: F401 - makes the packages org and java importable
