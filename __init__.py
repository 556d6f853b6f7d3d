"""Recordari: a rule-engine-first memory for AI agents, Chinese and English."""
