"""Changes to the configuration file, and the list of recently used indexes."""
