"""What the model does in a choice between two words when heads are switched off or exchanged, as long computations."""
