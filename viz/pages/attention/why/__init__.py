"""Why a head looks where it looks: a question, its parts, and what they read, step by step back to words."""
