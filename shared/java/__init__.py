"""The Java virtual machine: its start, its start-up cache, and the cancellation of work in it."""

from shared.java import installation

installation.check()
