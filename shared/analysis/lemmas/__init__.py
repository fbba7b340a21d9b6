"""Dictionaries of lemmas, the base forms of words, made by `shared.analysis.lemmas.build`."""
