"""The tab with what each layer would have written."""
