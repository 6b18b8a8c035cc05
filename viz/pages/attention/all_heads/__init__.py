"""The tab that shows every head of one attention."""
