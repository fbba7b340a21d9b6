"""Dictionaries of lemmas, the base forms of words, that `shared.lemmas.build` has made."""
