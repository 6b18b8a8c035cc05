"""Keep what one run of a model computed for one sentence, derive every weight from it, write it to a file.

Nothing here knows how a model is opened or run, of decoding or of pages.
"""
