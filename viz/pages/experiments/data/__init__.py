"""What the tabs on claims ask of the model."""
