"""The tab with ablations: one sentence through small models that lack a part, and what each part is worth."""
