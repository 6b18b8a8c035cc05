"""bertviz's head view of a trace as one HTML page that needs no network and that no token can break out of.

As bertviz ships it, its page loads three libraries from a CDN, holds the data twice, and lets a token that contains
`</script>` run as code. Here the libraries come from installed packages, `<` never reaches the page unescaped, and a
Content-Security-Policy names the very scripts that may run, by their hashes. Knows nothing of Streamlit.
"""

import base64
import hashlib
import html
import importlib.util
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from model.errors import InputTextError
from viz.components.wire import display_tokens
from viz.theme import HEAD_COLOURS

if TYPE_CHECKING:
    from model import Trace

#: Beyond this bertviz, which draws one SVG line for every weight, takes seconds to appear.
MAX_TOKENS: Final = 64

_DECIMALS: Final = 3
_ROW_HEIGHT: Final = 22.5
_ROOM_ABOVE: Final = 92

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
select:focus-visible { outline: 2px solid %(text)s; outline-offset: 1px; }
#vis { overflow-x: auto; }
#vis svg { min-width: 340px; }
text { fill: %(text)s; unicode-bidi: isolate; }
.background { fill: %(hover)s; }
/* Thin, translucent lines sink into a dark page; lightened, they are as clear there as on paper. */
#vis line { stroke-width: %(stroke)s; mix-blend-mode: %(blend)s; }
"""
# The colours of `.streamlit/config.toml`, which an iframe cannot see.
_LIGHT: Final = {
    "scheme": "light",
    "text": "#1a2033",
    "paper": "#fdfcf9",
    "field": "#f3f1ea",
    "line": "#dfdbcf",
    "hover": "#e2dfd4",
    "stroke": "2px",
    "blend": "normal",
}
_DARK: Final = {
    "scheme": "dark",
    "text": "#ebe8de",
    "paper": "#171c29",
    "field": "#202636",
    "line": "#343c50",
    "hover": "#39425a",
    "stroke": "3px",
    "blend": "plus-lighter",
}


def bertviz_page(trace: "Trace", *, dark: bool) -> str:
    """The head view of all three attentions of `trace`, self-contained, for `st.iframe`.

    Give the iframe a fixed height (`bertviz_height`): at height "content" Streamlit adds a script of its own to the
    page, which the page's policy refuses. Layers count from 1 here, as everywhere on a page.

    Raises:
        InputTextError: source or target is longer than `MAX_TOKENS` tokens.
    """
    longest = max(len(trace.source_tokens), len(trace.target_tokens))
    if longest > MAX_TOKENS:
        raise InputTextError(
            f"bertviz's view draws every weight as a line and is offered up to {MAX_TOKENS} tokens; this sentence has "
            f"{longest}. Choose a shorter sentence, or use the grid and the heatmap, which take any length."
        )
    markup, script = _split(_head_view(trace))
    scripts = [*_libraries(), _SHIM % json.dumps(HEAD_COLOURS), _with_data_once(script)]
    style = _STYLE % (_DARK if dark else _LIGHT)
    return _page(markup, scripts, style)


def bertviz_height(trace: "Trace") -> int:
    """CSS pixels that the page needs without scrolling."""
    rows = max(len(trace.source_tokens), len(trace.target_tokens))
    return int(rows * _ROW_HEIGHT) + _ROOM_ABOVE


def _head_view(trace: "Trace") -> str:
    """What bertviz returns, unchanged."""
    # Here and not above, because it pulls in IPython.
    from bertviz.head_view import head_view

    def layers(site: Any) -> list[Any]:
        return [trace.weights(site, layer)[None] for layer in range(trace.num_layers)]

    view = head_view(
        encoder_attention=layers("encoder.self"),
        decoder_attention=layers("decoder.self"),
        cross_attention=layers("decoder.cross"),
        encoder_tokens=display_tokens(trace.source_tokens),
        decoder_tokens=display_tokens(trace.target_tokens),
        prettify_tokens=False,
        html_action="return",
    )
    return str(view.data)


def _split(page: str) -> tuple[str, str]:
    """bertviz's page as its markup (without the CDN's script) and its own script."""
    without_cdn = re.sub(r'<script src="https://[^"]*"></script>', "", page)
    # The last closing tag ends the script, whatever a token says.
    markup, _, rest = without_cdn.partition('<script type="text/javascript">')
    script, end, _ = rest.rpartition("</script>")
    assert end, "bertviz's page has another form than that of version 1.4.1"
    return markup, script


def _with_data_once(script: str) -> str:
    """The script with its data rounded and escaped, and without the second copy that stands in a comment."""
    start = re.search(r"const params = ", script)
    assert start is not None, "bertviz's script has another form than that of version 1.4.1"
    params, end = json.JSONDecoder().raw_decode(script, start.end())
    # Drop what follows on the line: the comment "HACK: … is a template marker", in which the data stands again.
    rest = script[script.index("\n", end) :]
    for view in params["attention"]:
        view["attn"] = _rounded(view["attn"])
    # Layers are chosen by their place in this list, so it may as well hold what people read.
    params["include_layers"] = [layer + 1 for layer in params["include_layers"]]
    return f"{script[: start.end()]}{_script_json(params)};{rest}"


def _rounded(weights: Sequence[Any]) -> list[Any]:
    # In float64: a rounded float32 prints as 0.30000001192092896.
    return list(np.round(np.asarray(weights, np.float64), _DECIMALS).tolist())


def _script_json(value: object) -> str:
    """JSON that neither closes a script element nor breaks a line of JavaScript."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@cache
def _libraries() -> tuple[str, ...]:
    """jQuery and d3 as the installed packages carry them, without importing those (mpld3 would load matplotlib)."""
    texts = []
    for package, path, distribution in _LIBRARIES:
        try:
            found = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            found = None
        folders = [] if found is None else list(found.submodule_search_locations or [])
        files = [file for folder in folders if (file := Path(folder) / path).is_file()]
        if not files:
            raise RuntimeError(
                f"{path} of the package {distribution} is missing: run `pip install -r requirements.txt`."
            )
        texts.append(files[0].read_text(encoding="utf-8"))
    return tuple(texts)


def _page(markup: str, scripts: Sequence[str], style: str) -> str:
    for script in scripts:
        assert not re.search("</script|<!--", script, re.IGNORECASE), "a script must not be able to end its element"
    allowed = " ".join(f"'sha256-{_sha256(script)}'" for script in scripts)
    policy = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'"
    libraries, own = scripts[:-1], scripts[-1]
    return "".join(
        (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">',
            f"<title>Attention heads, drawn by bertviz</title><style>{style}</style>",
            *(f"<script>{library}</script>" for library in libraries),
            f"</head><body>{markup}<script>{own}</script></body></html>",
        )
    )


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
