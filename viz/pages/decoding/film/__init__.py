"""The tab that plays a decoding step by step."""
