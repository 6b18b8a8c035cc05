"""The tab on score functions: how they saturate the softmax, in random vectors and trained heads, and their cost."""
