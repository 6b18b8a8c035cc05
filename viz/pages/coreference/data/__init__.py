"""What the coreference page asks the model for."""
