"""A translation being written, step by step, and the others that a person makes of it."""
