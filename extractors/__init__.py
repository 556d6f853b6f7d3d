"""Text to mentions, cues and parts; knows nothing of memory."""
