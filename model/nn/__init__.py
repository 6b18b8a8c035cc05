"""The Transformer itself (§3), and two models from before it: attention, masks, layers, and their hook points.

Nothing here knows of text, tokenizers, files, traces or how a next token is chosen. `masks`, `positional`, `edits` and
`distance_bias` know nothing of the model.
"""
