"""Compute what positional encodings can do, and how a model knows positions."""
