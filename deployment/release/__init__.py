"""Checks of what is published; `make wheels` runs them in an environment of their own."""
