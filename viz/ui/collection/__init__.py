"""The collection: views of any page that a person pinned, as a list in the head of every page and as one file."""
