"""What a model is trained towards, how fast, and what it reads meanwhile (§5)."""
