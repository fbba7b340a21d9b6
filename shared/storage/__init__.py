"""The index on disk: its folder, files, lock and commits, and how documents become Lucene's."""

import shared.java  # noqa: F401 - makes the packages org and java importable
