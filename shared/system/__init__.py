"""Calls of the operating system that differ between Linux, macOS and Windows, under one name each.

A module here chooses its functions from `shared.system.posix` or `shared.system.windows`; nothing
else imports those. docs/platforms.md says how the systems differ.
"""
