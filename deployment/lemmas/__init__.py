"""The lists of words whose forms have several stems, of which a query searches all."""
