"""What leaves the memory: erasing on a ground, its certificate, sweeps of what has run out."""
