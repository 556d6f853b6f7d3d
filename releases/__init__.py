"""Which rule set decides: publishing, promoting and rolling back, and serving it to a running process."""
