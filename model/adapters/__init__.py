"""Other people's models, read through the same `Trace` (see `model.reader`)."""
