"""Start here: a story in five steps on the real pages, for who opens the app for the first time."""
