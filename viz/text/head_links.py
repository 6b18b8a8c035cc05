"""Heads that texts name, such as “L5 H2”, as links that open them on the Attention page.

A link is `#head-SITE-L5H2`, plain Markdown: nothing of a text becomes HTML. `viz/pictures/head_tools/head_links.js`
opens the head, and marks it wherever else the page shows it.
"""

import re
from typing import Final

from viz.text.messages import _
from viz.text.sites import NAMES, SITES

#: Where a link begins that names a head.
HREF: Final = "#head-"
#: Code, formulas and links, in which nothing is linked.
_CLOSED: Final = r"`[^`]*`|\$[^$]*\$|!?\[[^\]]*\]\([^)]*\)"


def address(site: str, layer: int, head: int) -> str:
    """The link of a head; layer and head count from 0."""
    return f"{HREF}{site}-L{layer + 1}H{head + 1}"


def linked(text: str, site: str = "") -> str:
    """Markdown in which every head is a link.

    Args:
        text: with heads as `head_label` names them, with or without the short name of their attention.
        site: of those without; where it is not given, the one attention that the text names. Without any of these, a
            head stays text.
    """
    site = site or _named(text)
    by_name = {_(NAMES[each].short): each for each in SITES}
    names = "|".join(re.escape(name) for name in sorted(by_name, key=len, reverse=True))

    def link(match: re.Match[str]) -> str:
        own = by_name.get(match["name"] or "", site)
        if match["closed"] or not own:
            return match[0]
        layer, head = int(match["layer"]), int(match["head"])
        before = match[0].removesuffix(f"L{layer} H{head}")
        return f"{before}[L{layer} H{head}]({address(own, layer - 1, head - 1)})"

    of_site = rf"(?:(?<!\w)(?P<name>{names}) )?"
    pattern = rf"(?P<closed>{_CLOSED})|{of_site}\bL(?P<layer>[1-9]\d*) H(?P<head>[1-9]\d*)\b"
    return re.sub(pattern, link, text)


def _named(text: str) -> str:
    """The one attention that a text names in full; "" for none or several."""
    lower = text.lower()
    named = [
        site for site in SITES if any(_(name).lower() in lower for name in (NAMES[site].phrase, NAMES[site].label))
    ]
    return named[0] if len(named) == 1 else ""
