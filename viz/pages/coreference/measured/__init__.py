"""The tab with every head scored over a set of sentences."""
