"""Reading back: what a question asks, which items answer it, in what order, and what stands before the model."""
