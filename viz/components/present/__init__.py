"""Where a presentation stands, and the keys of a clicker."""
