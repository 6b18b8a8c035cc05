"""What one run left behind for one sentence, every weight derived from it, and its file."""
