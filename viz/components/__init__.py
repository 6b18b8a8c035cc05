"""Canvas components that several pages use; the ES modules under them lie in `shared`. They know nothing of traces."""
