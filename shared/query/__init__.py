"""Conversion of a typed query to a Lucene query; `shared.query.pipeline` lists the steps."""

import shared.java  # noqa: F401 - makes the packages org and java importable
