"""How good the search is: queries with known answers, measures, and reports of them."""
