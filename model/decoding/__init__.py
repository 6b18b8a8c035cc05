"""Choosing the next token: greedily, by beam search, by chance; one step at a time or many sentences at once."""
