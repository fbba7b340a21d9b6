"""Wheels of pycld2, which recognizes languages; its own wheels leave out some platforms."""
