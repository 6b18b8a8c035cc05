"""Finished traces as a site without a server: a start page and a page a trace, for a folder or any web host.

The pages hold the components of the app, which draw what was packed when the site was made. `drawings.py` packs what a
trace shows, `contents.py` says which traces there are, `typefaces.py` holds the app's typefaces, `site.py` writes the
pages.
"""

from typing import Final

#: The command.
PROGRAM: Final = "python -m viz.gallery"
#: The folders of a site.
PARTS: Final = ("scripts", "data", "docs/notebooks")
#: The style sheet of all pages that holds the typefaces.
TYPEFACES: Final = "scripts/typefaces.css"
