"""Run `idx` as ``python -m idx``."""

from idx.app import main

main()
