"""What the small models of `model.training.ablations` are worth, measured, beside the paper's."""
