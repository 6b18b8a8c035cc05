"""Do heads look from a pronoun to what it stands for? Cases, files, scores."""
