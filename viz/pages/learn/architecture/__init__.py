"""The tab with the Transformer as a map, and the film of one translation that runs over it."""
