"""What the attention page shows, as one HTML file that opens from a disk, without Headlight and without any network.

It holds the sentence, all heads of an attention, the open one large with its weights on hover, the decoding as a table,
and what reopens the view in Headlight; no date, so the same view gives the same file.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import exp
from typing import TYPE_CHECKING, Final

from viz.access import attention
from viz.pictures.offline import all_heads, text_page
from viz.text.html import Column, literal, table
from viz.text.messages import _
from viz.text.written import display_token

if TYPE_CHECKING:
    from model import Trace

#: Candidates of a step that the table names.
_CANDIDATES: Final = 3

#: Of a smaller attention every head can be opened on the page: bytes of all exact weights.
_MOST_BYTES: Final = 4_000_000
#: Bytes of the page without weights, and in base64 of a float32 number; of a tile's cell less.
_REST, _FLOAT32, _CELL = 160_000, 5.4, 1.4

_STYLE: Final = """
.note { font-size: 0.9rem; opacity: 0.8; max-width: 75ch; }
.sentence { font-size: 1.15rem; overflow-wrap: anywhere; }
.mark { font-size: 0.75rem; letter-spacing: 0.08em; opacity: 0.65; margin-right: 0.9rem; }
h2 { margin-top: 2.2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1.2rem; margin: 0.4rem 0; }
dd { margin: 0; overflow-wrap: anywhere; }
"""


@dataclass(frozen=True, slots=True)
class OpenView:
    """What is open: an attention (its path, its name), a layer and a head from 0, and what stands in the address.

    `lines` are the texts that stand above: what each is, its language, and the text.
    """

    site: str
    site_label: str
    layer: int
    head: int
    query_string: str
    lines: Sequence[tuple[str, str, str]]


def view_page(trace: "Trace", view: OpenView, *, checkpoint: str, digest: str) -> bytes:
    """The file; `digest` tells the checkpoint from any other."""
    weights = attention.all_weights(trace, view.site)
    rows, keys = trace.row_names(view.site), trace.axis_names(view.site)[1]
    opened, only_opened = (view.layer, view.head), weights.nbytes > _MOST_BYTES
    body = "".join(
        (
            "<main>",
            _heading(view),
            '<div id="picture-0"></div>',
            _decoding(trace) if trace.steps else "",
            _origin(view, checkpoint, digest),
            "</main>",
        )
    )
    page = text_page(
        _("Headlight: {text}", text=trace.text[:80]),
        body,
        _STYLE,
        [all_heads(weights, rows, keys, view.site_label, opened, only_opened=only_opened)],
    )
    return page.encode("utf-8")


def page_bytes(heads: int, queries: int, keys: int) -> int:
    """About how large the file of an attention with so many heads in all is."""
    weights = heads * queries * keys
    exact = weights if 4 * weights <= _MOST_BYTES else queries * keys
    return _REST + round(_CELL * weights + _FLOAT32 * exact)


def _heading(view: OpenView) -> str:
    shown = "".join(
        f'<p class="sentence"><span class="mark" aria-hidden="true">{mark}</span>'
        f'<span lang="{language}" dir="auto">{literal(" ".join(text.split()))}</span></p>'
        for mark, language, text in view.lines
    )
    note = _(
        "Each row is a query token, each column a key token; the lighter, the more weight. Each row sums to 1. Point "
        "at a cell to see its value."
    )
    title = escape(_("Attention"))
    return f'<h1>{title}</h1>{shown}<h2>{escape(view.site_label)}</h2><p class="note">{escape(note)}</p>'


def _decoding(trace: "Trace") -> str:
    columns = [
        Column(_("Step"), is_number=True),
        Column(_("Token read")),
        Column(_("Token written")),
        Column(_("Probability"), is_number=True),
        Column(_("Entropy (nats)"), is_number=True),
        Column(_("Most probable")),
    ]
    rows = [
        (
            str(step.index + 1),
            display_token(read),
            display_token(step.token),
            f"{exp(step.log_prob):.4f}",
            f"{step.entropy:.3f}",
            " · ".join(f"{display_token(c.token)} {exp(c.log_prob):.3f}" for c in step.candidates[:_CANDIDATES]),
        )
        for read, step in zip(trace.target_tokens, trace.steps, strict=True)
    ]
    note = _(
        "Each row is one step: the token read, the token written after it, its probability, the entropy (0 is "
        "certain), and the most probable token."
    )
    return f'<h2>{escape(_("The decoding"))}</h2><p class="note">{escape(note)}</p>' + table(
        columns, rows, label=_("Decoding steps")
    )


def _origin(view: OpenView, checkpoint: str, digest: str) -> str:
    facts = ((_("Checkpoint"), checkpoint), (_("Checksum"), digest), (_("In the address"), f"?{view.query_string}"))
    listed = "".join(f"<dt>{escape(name)}</dt><dd><code>{literal(value)}</code></dd>" for name, value in facts)
    note = _("Headlight shows the same again if the text below is added to its address and it has this checkpoint.")
    return f'<h2>{escape(_("Where this comes from"))}</h2><p class="note">{escape(note)}</p><dl>{listed}</dl>'
