"""The page that teaches the paper: lessons, the architecture as a map, one token followed, training seen."""
