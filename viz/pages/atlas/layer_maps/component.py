"""Show metrics of all heads as maps, layer × head: every metric small, the chosen one large.

Packs numbers and their names for `head_maps.js`, and reads back which map or head a person chose.
"""

from collections.abc import Callable, Mapping, Sequence

from viz.components.declare import declare
from viz.components.head_grid.component import HeadChoice, read_choice
from viz.core import fingerprint, payload, theme
from viz.core.widget_values import sent
from viz.pages.atlas.view import HeadMap

_COMPONENT = declare("pages/atlas/layer_maps/head_maps.js", "pages/atlas/layer_maps/head_maps.css")


def pack_maps(maps: Sequence[HeadMap], chosen: str, selected: HeadChoice, name: str) -> bytes:
    """The payload of `head_maps.js`."""
    layers, heads = maps[0].values.shape
    packed = [head_map.packed() for head_map in maps]
    header = {
        "layers": layers,
        "heads": heads,
        "maps": packed,
        "chosen": chosen,
        "selected": [selected.layer, selected.head],
        "name": name,
        "scale": {"stops": theme.SEQUENTIAL, "dark": theme.NIGHT, "pale": theme.LIGHT},
        "centred": {"stops": theme.DIVERGING, "dark": theme.NIGHT, "pale": theme.LIGHT},
        "digest": fingerprint.digest(repr(packed), f"{layers} {heads}"),
    }
    return payload.pack(header)


def read_map(value: object, maps: Sequence[HeadMap]) -> str | None:
    """Which map the browser says was chosen, if it exists."""
    key = value.get("key") if isinstance(value, Mapping) else None
    return key if isinstance(key, str) and key in {head_map.key for head_map in maps} else None


def head_maps(
    maps: Sequence[HeadMap],
    *,
    chosen: str,
    selected: HeadChoice,
    on_map: Callable[[str], None],
    on_head: Callable[[HeadChoice], None],
    key: str,
    name: str,
) -> None:
    """Show all maps, the chosen one large.

    Args:
        maps: at least one, all of the same shape.
        chosen: key of the one that is large.
        selected: the head that is marked.
        on_map, on_head: called before the next run, with what a person chose.
        key: of the component.
        name: of the saved picture, without its ending.
    """

    def take_map() -> None:
        picked = read_map(sent(key, "map"), maps)
        if picked is not None:
            on_map(picked)

    def take_head() -> None:
        picked = read_choice(sent(key, "head"), *maps[0].values.shape)
        if picked is not None:
            on_head(picked)

    data = pack_maps(maps, chosen, selected, name)
    _COMPONENT(data=data, key=key, on_map_change=take_map, on_head_change=take_head)
