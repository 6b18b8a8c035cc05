"""Which words of a sentence a written token comes from, by several methods, and what hiding words does to it."""
