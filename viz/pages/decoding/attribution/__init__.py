"""The tab with the words that a written token comes from, by several methods, and a test of them."""
