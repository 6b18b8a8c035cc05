"""What the tab asks of the small models, and of the file with the results of all seeds."""
