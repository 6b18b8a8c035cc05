"""The layers of the paper's Table 1, measured: operations, wall time, sequential steps and how far influence comes."""
