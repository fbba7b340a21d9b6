"""Checks of `idx doctor`, a module for each area."""
