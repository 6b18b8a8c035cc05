"""The parts of a model by their names, the same for every model: what it has learned, and what a run adds up from."""
