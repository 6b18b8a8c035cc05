"""Show what a head does over a corpus: its numbers among those of all heads, and texts from weak to strong."""
