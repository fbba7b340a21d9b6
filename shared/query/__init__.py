"""From what was typed to a query of Lucene; `shared.query.pipeline` names the steps."""

import shared.java  # noqa: F401 - makes the packages org and java importable
