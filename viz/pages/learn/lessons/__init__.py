"""Lessons: what they say and ask is data, a file each; what they show is computed from the model that ships."""
