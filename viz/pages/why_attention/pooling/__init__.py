"""The tab on attention as pooling: a regression whose query averages the values of near keys."""
