"""The tab with one map, layer × head, for each metric."""
