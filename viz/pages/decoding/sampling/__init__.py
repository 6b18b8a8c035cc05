"""The tab with translations drawn by chance."""
