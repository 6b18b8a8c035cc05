"""The Transformer itself (§3): attention, masks, positions, layers, and the hook points in them.

Nothing here knows of text, tokenizers, files, traces or how a next token is chosen. `masks`, `positional`, `edits` and
`distance_bias` know nothing of the model; `parameter_counts` needs no torch.
"""
