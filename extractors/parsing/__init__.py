"""The bottom-up chart parser behind grammar files: leaves, productions, value expressions."""
