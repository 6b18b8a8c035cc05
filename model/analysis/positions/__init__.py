"""What positional encodings can do, and how a model knows positions."""
