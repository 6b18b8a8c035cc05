"""Every head of one attention, where a weight comes from, and other views of it."""
