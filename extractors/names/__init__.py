"""Readers of people's and firms' names, one for each language, and the optional models that only hint."""
