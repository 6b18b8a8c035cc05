"""MarianMT (OPUS-MT) folders read into Headlight's own Transformer; knows nothing of the library transformers."""
