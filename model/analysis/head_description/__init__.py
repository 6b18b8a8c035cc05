"""Say what each head of a model does over a corpus: `measure` it, keep that (`file`), and `describe` it."""
