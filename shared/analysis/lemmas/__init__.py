"""Dictionaries of lemmas, and lists of words whose forms have several stems."""
