"""The tab on Table 1 of the paper: layers compared by operations, wall time, sequential steps and path length."""
