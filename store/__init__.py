"""SQL tables of turns, items and decisions, and the questions asked of them."""
