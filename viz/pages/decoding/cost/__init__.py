"""The tab with what a step computes and what the key/value cache spares."""
