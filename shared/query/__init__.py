"""From what was typed to a query of Lucene; `shared.query.pipeline` names the steps."""
