"""What the chosen model is, what it learned from, how well it does."""
