"""The Transformer as a map: the boxes and arrows of the paper's figure 1, for whatever stacks a model has."""
