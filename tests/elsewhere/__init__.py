"""Tests on other systems and processors, run here: ``python -m tests.elsewhere``."""
