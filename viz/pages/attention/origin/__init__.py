"""The tab that shows where a weight comes from."""
