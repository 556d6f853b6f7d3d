"""Readers of addresses and places, one for each language, over the tables of divisions, states and towns."""
