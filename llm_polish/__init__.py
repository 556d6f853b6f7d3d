"""Candidate value to sentence: template always, a guarded LLM by choice."""
