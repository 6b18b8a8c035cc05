"""Heads that texts name, such as “L5 H2”, as links that open them on the Attention page.

A link is `#head-SITE-L5H2`, plain Markdown: nothing of a text becomes HTML. `viz/pictures/head_tools/pointed_heads.js`
opens the head, and marks it wherever else the page shows it.
"""

from typing import Final, Self

from viz.text.messages import Message, _
from viz.text.sites import NAMES, head_label

#: Where a link begins that names a head.
HREF: Final = "#head-"


class NamedHead(Message):
    """The name of a head that knows which head it is: a text wherever texts are shown, a link where one can be."""

    site: str  #: of which attention
    #: layer, head: counted from 0.
    layer: int
    head: int

    def __new__(cls, site: str, layer: int, head: int, with_site: bool = False) -> Self:
        """The name is "L5 H2", or "cross L5 H2" where those of several attentions stand together."""
        name = head_label(layer, head)
        values = {"site": NAMES[site].short, "head": name} if with_site else {"head": name}
        made = super().__new__(cls, "{site} {head}" if with_site else "{head}", values)
        made.site, made.layer, made.head = site, layer, head
        return made

    def __getnewargs__(self) -> tuple[str, int, int, bool]:  # type: ignore[override]
        """What a copy is made of."""
        return self.site, self.layer, self.head, "site" in self.values

    @property
    def address(self) -> str:
        """Where its link leads."""
        return f"{HREF}{self.site}-L{self.layer + 1}H{self.head + 1}"

    @property
    def link(self) -> str:
        """The name as a link, Markdown in the language of this page run."""
        return f"[{_(self)}]({self.address})"
