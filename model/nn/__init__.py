"""The Transformer itself (§3): attention, masks, positions, layers, and the hook points in them.

Knows nothing of text, files or how a next token is chosen."""
