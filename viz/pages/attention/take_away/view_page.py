"""What the attention page shows, as one HTML file that opens from a disk, without Headlight and without any network.

It holds the sentence, the open head with its weights on hover, all heads of the same attention, the decoding as a
table, and what reopens the view in Headlight; no date, so the same view gives the same file.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import exp
from typing import TYPE_CHECKING, Final

import numpy as np
from plotly.offline import get_plotlyjs

from viz.core.html import Column, literal, table
from viz.core.messages import _
from viz.core.offline_page import DARK, LIGHT, offline_page, script_json
from viz.core.sites import head_label
from viz.core.tile_images import tile_urls
from viz.core.token_text import display_token
from viz.figures.heads import head_heatmap

if TYPE_CHECKING:
    from model import Trace

#: Candidates of a step that the table names.
_CANDIDATES: Final = 3

_STYLE: Final = """
:root { color-scheme: light dark; --text: %(light_text)s; --paper: %(light_paper)s;
        --line: %(light_line)s; --accent: %(light_accent)s; }
@media (prefers-color-scheme: dark) {
  :root { --text: %(dark_text)s; --paper: %(dark_paper)s; --line: %(dark_line)s; --accent: %(dark_accent)s; }
}
body { margin: 0 auto; max-width: 1080px; padding: 24px 20px 48px; color: var(--text); background: var(--paper);
       font: 16px/1.5 system-ui, sans-serif; }
h1, h2 { font-family: Georgia, serif; line-height: 1.2; }
h1 { font-size: 1.9rem; margin: 0 0 0.6rem; }
h2 { font-size: 1.3rem; margin: 2.2rem 0 0.4rem; }
p { margin: 0.3rem 0; }
.note { font-size: 0.9rem; opacity: 0.8; max-width: 75ch; }
.sentence { font-size: 1.15rem; overflow-wrap: anywhere; }
.mark { font-size: 0.75rem; letter-spacing: 0.08em; opacity: 0.65; margin-right: 0.9rem; }
#figure { max-width: 760px; }
.heads { display: grid; grid-template-columns: max-content repeat(%(heads)d, minmax(24px, 110px)); gap: 6px;
         margin-top: 0.8rem; align-items: center; font-size: 0.8rem; overflow-x: auto; padding: 4px; }
.heads .name { text-align: center; }
.heads img { width: 100%%; aspect-ratio: %(aspect)s; image-rendering: pixelated; display: block;
             outline: 1px solid var(--line); }
.heads img.open { outline: 3px solid var(--accent); outline-offset: 2px; }
code { overflow-wrap: anywhere; }
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
    """The file, about five megabytes, nearly all of them plotly; `digest` tells the checkpoint from any other."""
    weights = np.stack([trace.weights(view.site, layer).numpy() for layer in range(len(trace.inputs[view.site]))])
    figure = head_heatmap(weights[view.layer, view.head], trace.row_names(view.site), trace.axis_tokens(view.site)[1])
    # Without plotly's own template, which would bring its colours along, and in the reader's colours alone.
    figure.update_layout(template=None).update_xaxes(tickfont_color=None).update_yaxes(tickfont_color=None)
    drawn = json.loads(figure.to_json())
    alt = _("Weights of the open head, a row for each query token")
    body = "".join(
        (
            "<main>",
            _heading(trace, view),
            f'<div id="figure" role="img" aria-label="{escape(alt)}"></div>',
            _all_heads(weights, view),
            _decoding(trace) if trace.steps else "",
            _origin(view, checkpoint, digest),
            "</main>",
        )
    )
    page = offline_page(
        title=_("Headlight: {text}", text=trace.text[:80]),
        style=_style(weights.shape),
        body=body,
        libraries=[get_plotlyjs()],
        script=f"const figure = {script_json(drawn)};\n"
        f"const palettes = {script_json({'light': LIGHT, 'dark': DARK})};\n",
        entry="pages/attention/take_away/view_page.js",
    )
    return page.encode("utf-8")


def _style(shape: tuple[int, ...]) -> str:
    _, heads, queries, keys = shape
    colours = {f"light_{name}": colour for name, colour in LIGHT.items()}
    colours |= {f"dark_{name}": colour for name, colour in DARK.items()}
    # Tiles follow the sentence's shape, but never become a strip.
    aspect = min(2.0, max(0.5, keys / queries))
    return _STYLE % {**colours, "heads": heads, "aspect": f"{aspect:.4g}"}


def _heading(trace: "Trace", view: OpenView) -> str:
    shown = "".join(
        f'<p class="sentence"><span class="mark" aria-hidden="true">{mark}</span>'
        f'<span lang="{language}" dir="auto">{literal(" ".join(text.split()))}</span></p>'
        for mark, language, text in view.lines
    )
    name = _("{site}, {head}", site=view.site_label, head=head_label(view.layer, view.head))
    note = _(
        "One row is a token that looks, one column a token looked at; the lighter, the more weight. Each row adds up "
        "to 1. Point at a cell for its number."
    )
    return f'<h1>{escape(_("Attention"))}</h1>{shown}<h2>{escape(name)}</h2><p class="note">{escape(note)}</p>'


def _all_heads(weights: np.ndarray[tuple[int, ...], np.dtype[np.float32]], view: OpenView) -> str:
    of_heads = [_("Head {number}", number=head + 1) for head in range(weights.shape[1])]
    names = "".join(f'<span class="name">{escape(name)}</span>' for name in of_heads)
    rows = []
    for layer, urls in enumerate(tile_urls(weights)):
        rows.append(f"<span>{escape(_('Layer {number}', number=layer + 1))}</span>")
        for head, url in enumerate(urls):
            mark = ' class="open"' if (layer, head) == (view.layer, view.head) else ""
            name = head_label(layer, head)
            rows.append(f'<img{mark} src="{url}" alt="{name}" title="{name}">')
    title = _("All heads of the {site}", site=view.site_label[:1].lower() + view.site_label[1:])
    note = _(
        "The same for every head of every layer, coloured by the square root of the weight as above. The head that is "
        "open has a frame."
    )
    return (
        f'<h2>{escape(title)}</h2><p class="note">{escape(note)}</p>'
        f'<div class="heads"><span></span>{names}{"".join(rows)}</div>'
    )


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
        "One row is one step: the token read, the token written after it, how probable that was, how undecided the "
        "model was (0 is certain), and what it found most probable."
    )
    return f'<h2>{escape(_("The decoding"))}</h2><p class="note">{escape(note)}</p>' + table(
        columns, rows, label=_("Decoding steps")
    )


def _origin(view: OpenView, checkpoint: str, digest: str) -> str:
    facts = (
        (_("Checkpoint"), checkpoint),
        (_("Its digest"), digest),
        (_("In the address"), f"?{view.query_string}"),
    )
    listed = "".join(f"<dt>{escape(name)}</dt><dd><code>{literal(value)}</code></dd>" for name, value in facts)
    note = _(
        "Headlight shows the same again when what stands below is put behind its address, if it has this checkpoint. "
        "Numbers there count from 0."
    )
    return f'<h2>{escape(_("Where this comes from"))}</h2><p class="note">{escape(note)}</p><dl>{listed}</dl>'
