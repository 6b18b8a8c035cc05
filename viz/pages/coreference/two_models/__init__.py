"""Two models on one sentence: what they write, which heads are nearest, and two of these beside each other."""
