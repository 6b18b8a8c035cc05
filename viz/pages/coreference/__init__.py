"""A pronoun in two sentences, every head measured over a set, and a cause put to the test."""
