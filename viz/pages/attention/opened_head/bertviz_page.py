"""bertviz's head view and model view of one attention, as a page that needs no network and runs no token as code.

As bertviz ships them, its pages load three libraries from a CDN, hold the data twice, and let a token that contains
`</script>` run as code. Here the libraries come from installed packages, and `viz.pictures.offline` makes the page.
bertviz also gives one list of layers and heads to all three attentions, and fails where these differ: a page shows one
attention.
"""

import importlib.util
import json
import re
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import numpy as np
import streamlit as st

from model.errors import InputTextError
from viz.access import attention
from viz.access.attention import MatrixView
from viz.pictures.offline import Scheme, colours, offline_page, script_json
from viz.selection import state
from viz.selection.choices import PictureFormat
from viz.text import messages, written
from viz.text.messages import _, said
from viz.text.written import display_tokens, file_name
from viz.theme import HEAD_COLOURS
from viz.ui import frame, terms, token_labels

if TYPE_CHECKING:
    from model import Trace

_HOW_TO_READ: Final = {
    "Head view": said(
        "A line leads from a token on the left to a token it attends to; its opacity is the weight, its colour the "
        "head. Point at a token to see only its lines; click a coloured square to switch a head off or on, "
        "double-click it to see only that head."
    ),
    "Model view": said(
        "Each small picture is one head, each colour a layer; lines lead from the tokens on the left to those on the "
        "right, first token at the top. Click a head to enlarge it and see its tokens; click again to close it."
    ),
}
_WHY_SO_SHORT: Final = said(
    "In a narrow window the view scrolls sideways. By keyboard: Tab, arrow keys, Enter. Available up to 64 tokens, "
    "because bertviz draws every weight as a line: 64 tokens take several seconds to appear, 256 nearly a minute, "
    "during which the browser does not respond."
)
_WEIGHTS_ALONE: Final = said("bertviz draws the weights between all tokens.")
#: Beyond this bertviz, which draws one SVG line for every weight, takes seconds to appear.
MAX_TOKENS: Final = 64
_DECIMALS: Final = 3
_RULER: Final = """
    const PAGE = document.documentElement.clientWidth - 24;
    const RULER = document.createElement("canvas").getContext("2d");
    const TOKENS = params.attention.flatMap((view) => [...view.left_text, ...view.right_text]);
    const widest = (size) => {
        RULER.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
        return Math.ceil(Math.max(...TOKENS.map((token) => RULER.measureText(token).width + size)));
    };"""
#: What bertviz makes as wide as it likes, as wide as the longest token and as the page leaves. Where it leaves less
#: than the drawing needs, it scrolls. The model view is drawn for the page's first width, and shrinks with the page.
_WIDTHS: Final = {
    "Head view": {
        "const BOXWIDTH = 110;": f"{_RULER} const BOXWIDTH = Math.max(110, widest(TEXT_SIZE));",
        "const MATRIX_WIDTH = 115;": """
    const MATRIX_WIDTH = Math.max(115, Math.min(600, PAGE - 2 * BOXWIDTH));
    document.body.style.setProperty("--drawn", `${2 * BOXWIDTH + MATRIX_WIDTH}px`);""",
    },
    "Model view": {
        "const DIV_WIDTH = 970;": f"""{_RULER}
    const DETAIL_BOX_WIDTH = Math.min(160, Math.max(80, widest(13)));
    const DETAIL_WIDTH = 140 + 2 * DETAIL_BOX_WIDTH;
    const NEEDED = Math.max(DETAIL_WIDTH, 38 + 48 * params.include_heads.length);
    const DIV_WIDTH = Math.max(PAGE, NEEDED);
    document.body.style.setProperty("--drawn", `${{NEEDED}}px`);""",
        "const DETAIL_WIDTH = 300;": "",
        "const DETAIL_BOX_WIDTH = 80;": "",
        "7 * (12 / config.totalHeads)": "Math.min(12, 42 / config.totalHeads)",
        "x = leftPos + THUMBNAIL_PADDING - DETAIL_WIDTH + 8": "x = Math.max(0, leftPos + 13 - DETAIL_WIDTH)",
    },
}
#: CSS pixels of bertviz's own drawing: rows of tokens, and what stands above, around and beside them.
_HEAD_VIEW_ROW: Final = 22.5
_HEAD_VIEW_REST: Final = 92
_THUMBNAIL_ROWS: Final = 42
_HIGHEST_THUMBNAIL_ROW: Final = 12
_THUMBNAIL_REST: Final = 10
_DETAIL_ROW: Final = 18
_DETAIL_REST: Final = 55
_MODEL_VIEW_REST: Final = 38 + 32 + 28
# d3 must be version 5: bertviz's handlers take (datum, index).
_LIBRARIES: Final = (
    ("xstatic.pkg.jquery", "data/jquery.slim.min.js", "XStatic-jQuery"),
    ("mpld3", "js/d3.v5.min.js", "mpld3"),
)
# bertviz asks require.js for its libraries; they are on the page already. Its ten colours give way to the app's own.
_SHIM: Final = """
d3.schemeCategory10 = %s;
window.require = window.requirejs = (names, start) => start(window.jQuery, window.d3);
window.require.config = () => {};
"""
_STYLE: Final = """
:root { color-scheme: %(scheme)s; }
body { margin: 0; padding: 8px 4px; color: %(text)s; background: %(paper)s; font: 14px system-ui, sans-serif; }
body > div { font-family: inherit !important; }
select { font: inherit; color: inherit; background: %(field)s; border: 1px solid %(line)s; border-radius: 6px;
         padding: 3px 6px; margin: 0 12px 12px 4px; }
#save { position: absolute; top: 6px; right: 6px; }
#save button { font: 12px system-ui, sans-serif; color: inherit; background: %(field)s; border: 1px solid %(line)s;
               border-radius: 6px; padding: 5px 9px; cursor: pointer; }
#save svg { display: block; width: 14px; height: 14px; fill: none; stroke: currentcolor; stroke-width: 1.6; }
select:focus-visible, #save button:focus-visible { outline: 2px solid %(text)s; outline-offset: 1px; }
#vis { overflow-x: auto; }
#vis svg { min-width: var(--drawn, 340px); fill: %(paper)s; }
#vis svg[viewBox] { max-width: 100%%; height: auto; }
text { fill: %(text)s; unicode-bidi: isolate; }
.background { fill: %(hover)s; }
[tabindex]:focus { outline: none; }
[tabindex]:focus-visible { outline: 2px dashed %(text)s; }
/* The model view knows black and white; its own greys stand for the head that is open. */
.attn_background { fill: %(paper)s; }
.attn_background[fill="#222"], .attn_background[fill="#F5F5F5"] { fill: %(hover)s; }
"""
# The model view has no field for a layer beside which the button could stand.
_SAVE_ABOVE: Final = {"Head view": "", "Model view": "#save { position: static; display: flex; justify-content: end; }"}
# Thin, translucent lines sink into a dark page; lightened, they are as clear there as on paper. In the model view there
# are a hundred times as many lines, and blending them would take seconds.
_DARK_LINES: Final = {
    "Head view": "#vis line { stroke-width: 3px; mix-blend-mode: plus-lighter; }",
    "Model view": "#vis line { stroke-width: 3px; }",
}
#: What bertviz calls the three attentions.
_BERTVIZ_NAMES: Final = {"encoder.self": "encoder", "decoder.self": "decoder", "decoder.cross": "cross"}


def show(trace: "Trace", site: str) -> None:
    """bertviz's head view or model view of one attention; the head view begins with the heads that are open."""
    if missing := missing_packages():
        frame.note(
            "bertviz needs {missing}: run `pip install -r requirements.txt` where Headlight runs, and restart it. "
            "Heatmap and Lines show the same weights without it.",
            missing=messages.with_and(missing),
        )
        return
    common, view = state.current().common, state.current().attention.bertviz_view
    heads = tuple(sorted({common.head, *(head for head in common.further_heads if head < trace.heads_of(site))}))
    dark, saved_as = st.context.theme.type == "dark", common.picture_format
    with frame.errors_shown():
        st.iframe(
            bertviz_page(trace, site, view, layer=common.layer, heads=heads, dark=dark, saved_as=saved_as),
            height=bertviz_height(trace, site, view),
            alt=_("bertviz's {view}: {label}", view=_(view).lower(), label=written.label(site)),
        )
        _forget_addresses()
        what = () if attention.is_plain(trace, site, MatrixView.of(common)) else (_(_WEIGHTS_ALONE),)
        named = token_labels.rows_said_plainly(trace, site)
        terms.caption(messages.in_a_row((*what, _(_HOW_TO_READ[view]), named, _(_WHY_SO_SHORT))))


def _forget_addresses() -> None:
    """Empty the standard library's cache of addresses: `st.iframe` asks it whether a page of 350 kB is one.

    It would keep 128 such pages.
    """
    if forget := getattr(urlsplit, "cache_clear", None):
        forget()


def bertviz_page(
    trace: "Trace", site: str, view: str, *, layer: int, heads: Sequence[int] = (), dark: bool, saved_as: PictureFormat
) -> str:
    """One of bertviz's views of one attention of `trace`, self-contained, for `st.iframe`.

    Give the iframe a fixed height (`bertviz_height`): at height "content" Streamlit adds a script of its own to the
    page, which the page's policy refuses. Layers and heads count from 1 here, as everywhere on a page. Raises an
    InputTextError if a side of this attention is longer than `MAX_TOKENS` tokens.

    Args:
        view: "Head view" (one layer, token by token) or "Model view" (every head of every layer, small).
        layer, heads: those that the head view begins with, from 0; without heads, all of the layer.
        saved_as: the format in which its button saves the picture.
    """
    longest = _longest(trace, site)
    if longest > MAX_TOKENS:
        message = (
            "bertviz draws every weight as a separate line and is available up to {max_tokens} tokens, patches or "
            "frames; there are {longest} here. Choose something shorter, or use the grid and the heatmap, which take "
            "any length."
        )
        raise InputTextError(message, max_tokens=MAX_TOKENS, longest=longest)
    markup, script = _split(_drawn_by_bertviz(trace, site, view))
    for own, ours in _WIDTHS[view].items():
        assert own in script, "bertviz's script has another form than that of version 1.4.1"
        script = script.replace(own, ours)
    scheme: Scheme = "dark" if dark else "light"
    name = escape(file_name("bertviz", site, view, sentence=trace.text))
    save = f'<div id="save" data-name="{name}" data-format="{saved_as}"></div>'
    return offline_page(
        title=_("{view} of attention, drawn by bertviz", view=_(view)),
        style=_STYLE % _palette(scheme) + _SAVE_ABOVE[view] + (_DARK_LINES[view] if dark else ""),
        body=save + markup.replace("Layer:", escape(_("Layer:"))),
        libraries=[*_libraries(), _SHIM % script_json(HEAD_COLOURS)],
        script=_with_data_once(script, trace.row_names(site), layer, heads),
        entry="pages/attention/opened_head/bertviz_page.js",
    )


def _palette(scheme: Scheme) -> dict[str, str]:
    own = colours(scheme)
    names = {"text": "text", "paper": "background", "field": "secondary-background", "line": "border"}
    palette = {name: own[f"--st-{of}-color"] for name, of in names.items()}
    return palette | {"scheme": scheme, "hover": "#39425a" if scheme == "dark" else "#e2dfd4"}


def missing_packages() -> list[str]:
    """The packages that these views need and that are not installed, as pip names them."""
    needed = {"bertviz": "bertviz", "IPython": "ipython"}
    missing = [name for module, name in needed.items() if importlib.util.find_spec(module) is None]
    return missing + [distribution for package, path, distribution in _LIBRARIES if _file_in(package, path) is None]


def bertviz_height(trace: "Trace", site: str, view: str) -> int:
    """CSS pixels that the page needs without scrolling."""
    rows = _longest(trace, site)
    if view == "Head view":
        return int(rows * _HEAD_VIEW_ROW) + _HEAD_VIEW_REST
    layers = trace.inputs[site]
    thumbnail = rows * min(_HIGHEST_THUMBNAIL_ROW, _THUMBNAIL_ROWS / layers[0].num_heads) + _THUMBNAIL_REST
    return int(max(len(layers) * thumbnail, rows * _DETAIL_ROW + _DETAIL_REST)) + _MODEL_VIEW_REST


def _longest(trace: "Trace", site: str) -> int:
    return max(map(len, trace.axis_tokens(site)))


def _drawn_by_bertviz(trace: "Trace", site: str, view: str) -> str:
    """What bertviz returns, unchanged."""
    # Here and not above, because they pull in IPython.
    from bertviz.head_view import head_view
    from bertviz.model_view import model_view

    draw = head_view if view == "Head view" else model_view
    drawn = draw(
        **{f"{_BERTVIZ_NAMES[site]}_attention": [trace.weights(site, i)[None] for i in range(len(trace.inputs[site]))]},
        encoder_tokens=display_tokens(trace.source.names),
        decoder_tokens=display_tokens(trace.target_tokens),
        prettify_tokens=False,
        html_action="return",
    )
    return str(drawn.data)


def _split(page: str) -> tuple[str, str]:
    """bertviz's page as its markup (without the CDN's script) and its own script."""
    without_cdn = re.sub(r'<script src="https://[^"]*"></script>', "", page)
    # The last closing tag ends the script, whatever a token says.
    markup, _, rest = without_cdn.partition('<script type="text/javascript">')
    script, end, _ = rest.rpartition("</script>")
    assert end, "bertviz's page has another form than that of version 1.4.1"
    return markup, script


def _with_data_once(script: str, row_names: Sequence[str], layer: int, heads: Sequence[int]) -> str:
    """The script with its data rounded and escaped, rows named as everywhere, and without the copy in a comment."""
    start = re.search(r"const params = ", script)
    assert start is not None, "bertviz's script has another form than that of version 1.4.1"
    params, end = json.JSONDecoder().raw_decode(script, start.end())
    # Drop what follows on the line: the comment "HACK: … is a template marker", in which the data stands again.
    rest = _translated(script[script.index("\n", end) :])
    for view in params["attention"]:
        # In float64: a rounded float32 prints as 0.30000001192092896.
        view["left_text"] = display_tokens(row_names)
        view["attn"] = np.round(np.asarray(view["attn"], np.float64), _DECIMALS).tolist()
    # Layers and heads are chosen by their place in these lists, so they may as well hold what people read.
    for field in ("include_layers", "include_heads"):
        if field in params:
            params[field] = [number + 1 for number in params[field]]
    if "layer" in params:
        params |= {"layer": params["include_layers"][layer], "heads": list(heads) or None}
    return f"{script[: start.end()]}{script_json(params)};{rest}"


def _translated(code: str) -> str:
    """bertviz's code with the words that its model view writes in the language of the page."""
    of_head = "'Layer ' + config.layers[layerIndex] + \", Head \" + config.heads[headIndex]"
    template = script_json(_("Layer {layer}, Head {head}"))
    numbers = '.replace("{layer}", config.layers[layerIndex]).replace("{head}", config.heads[headIndex])'
    words = {'"Heads"': script_json(_("Heads")), '"Layers"': script_json(_("Layers")), of_head: template + numbers}
    for english, own in words.items():
        code = code.replace(f".text({english})", f".text({own})")
    return code


@cache
def _libraries() -> tuple[str, ...]:
    """jQuery and d3 as the installed packages carry them, without importing those (mpld3 would load matplotlib)."""
    files = [_file_in(package, path) for package, path, _ in _LIBRARIES]
    return tuple(file.read_text(encoding="utf-8") for file in files if file is not None)


def _file_in(package: str, path: str) -> Path | None:
    """A file of an installed package, which is not imported; None if there is none."""
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        spec = None
    folders = [] if spec is None else list(spec.submodule_search_locations or [])
    return next((file for folder in folders if (file := Path(folder) / path).is_file()), None)
