"""The buttons that stand in the head of every page."""
