"""People and organisations."""
