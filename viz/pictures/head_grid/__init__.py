"""Every head of every layer at a glance, one canvas tile a head."""
