"""The tab with files of the decoding."""
