"""State shared by the handlers: settings, the Lucene thread pool, scopes and known values."""
