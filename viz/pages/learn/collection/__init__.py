"""The collection: views of any page that a person pinned, side by side."""
