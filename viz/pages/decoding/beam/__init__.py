"""The tab with the tree of a beam search."""
