"""Other people's models, read into what the rest of `model` knows. Knows nothing of pages."""
