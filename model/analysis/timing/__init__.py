"""Which cross-attention heads of a speech model keep time: when a word is heard, and how far off that is."""
