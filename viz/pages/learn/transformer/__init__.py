"""The tab that follows one token through all layers: what every part adds to its residual stream."""
