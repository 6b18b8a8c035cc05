"""Read Hugging Face models through the same `Trace` as ours. Knows nothing of analysis, training or screens."""
