"""The tab with the positional encodings."""
