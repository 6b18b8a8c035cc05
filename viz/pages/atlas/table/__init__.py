"""The tab with all metrics of all heads as a table."""
