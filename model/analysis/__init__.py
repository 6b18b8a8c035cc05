"""Measure what attention heads do, from traces. Knows nothing of training, of screens or of how figures are drawn."""
