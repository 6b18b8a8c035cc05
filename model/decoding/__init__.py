"""Choose the next token: greedily, by beam search, by chance; one step at a time or many sentences at once.

Nothing here knows of pages, files or other people's models. `beam` knows nothing of tensors, `cost` nothing of torch.
"""
