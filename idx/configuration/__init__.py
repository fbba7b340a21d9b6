"""Changes to the configuration file."""
