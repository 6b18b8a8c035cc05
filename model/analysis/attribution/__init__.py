"""Which words of a sentence a written token comes from, by several methods, and which of them is to be trusted."""
