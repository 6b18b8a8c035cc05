"""What the small models of `model.training.ablations` are worth, measured, beside what is claimed of such models."""
