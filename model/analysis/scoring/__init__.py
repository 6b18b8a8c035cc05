"""Score functions compared: how they saturate the softmax, random vectors and trained heads, and what they cost."""
