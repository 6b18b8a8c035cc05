"""The tab that compares two sentences."""
