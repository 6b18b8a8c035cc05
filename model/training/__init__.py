"""Train a model on sentence pairs: batches, schedule, loss, loop. Knows nothing of analysis or screens."""
