"""How figures are written: Chinese numerals, and what an amount carries beside its number."""
