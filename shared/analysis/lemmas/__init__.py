"""Dictionaries of lemmas, the base forms of words, that `shared.analysis.lemmas.build` has made."""
