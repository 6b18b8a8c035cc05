"""What the topics compute, by the functions of the model."""
