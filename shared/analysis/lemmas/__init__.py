"""Dictionaries of lemmas, the base forms of words, made by `deployment.lemmas`."""
