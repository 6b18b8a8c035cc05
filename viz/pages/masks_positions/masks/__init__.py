"""The tab with the masks as the model used them."""
