"""Queries rewritten into English by a language model, before they are searched."""
