"""What the tabs of the decoding page ask the model for."""
