"""Follow one position through a model: what every part adds to its residual stream, and what the norms make of it."""
