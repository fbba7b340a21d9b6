"""Settings: their defaults, the configuration file and the environment variables."""
