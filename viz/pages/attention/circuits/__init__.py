"""The tab with what the open head would do with tokens alone."""
