"""The tab with the tree of translations that a person has made."""
