"""A table of heads: its payload, its script and its style."""
