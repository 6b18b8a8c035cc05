"""The Python that gives what the attention page shows."""

from typing import TYPE_CHECKING, Final

from viz.access import models
from viz.selection import state
from viz.ui.snippets import Snippet, Views, line, of_text, open_head

if TYPE_CHECKING:
    from model import Trace


def _all_heads(trace: "Trace") -> Snippet:
    """The open head, by the measure and between what is chosen."""
    common, (site, layer, head) = state.current().common, open_head(trace)
    if common.is_plain:
        weights = line("weights = trace.weights({}, {}, heads=[{}])[0]  # [query, key]", site, layer, head)
        return of_text(trace, {}, weights)
    imports: dict[str, str] = {}
    values = line("values = trace.weights({}, {})", site, layer)
    if common.measure == "rollout":
        values, head = line("values = rollout_at(trace, {}, {})[None]", site, layer), 0
        imports["analysis.metrics.measures"] = "rollout_at"
    elif common.measure == "norms":
        of_site = line("trace.attention({0}, {1}).values(), reader.output_projection({0}, {1})", site, layer)
        imports["analysis.metrics.measures"] = "value_weighted_norms"
        values = line("values = value_weighted_norms(trace.weights({}, {}), ", site, layer) + f"{of_site})"
    axis = "whole_words(tokens, trace.special_tokens)" if common.whole_words else "single_tokens(tokens)"
    imports["trace.axes"] = "between, whole_words" if common.whole_words else "between, single_tokens"
    axis += "" if common.special_tokens else ".without_special_tokens(trace.special_tokens)"
    between = f"shown = between(values, *({axis} for tokens in "
    between += line("trace.axis_tokens({})))[{}]  # [query, key]", site, head)
    return of_text(trace, imports, values, between)


def _circuits(trace: "Trace") -> Snippet:
    """What the weights of the open head make it attend to, and how much each head copies."""
    abilities = models.abilities(state.current().model)
    if not abilities.has("circuits"):
        return ""
    site, layer, head = open_head(trace)
    weights = line("weights = circuits.weights(trace, {}, {})  # by tokens alone, [query, key]", site, layer)
    if abilities.is_headlight:
        opened = line("circuits = head_circuits(reader.model, {}, {}, {})", site, layer, head)
        copying = line("copying = copying_scores(reader.model, {})  # [layer, head]", site)
        return of_text(trace, {"analysis.head_circuits": "copying_scores, head_circuits"}, opened, weights, copying)
    opened = line("circuits = library_circuits(reader, {}, {})", layer, head)
    copying = "copying = library_copying(reader)  # [layer, head]"
    imports = {"analysis.library_circuits": "library_circuits, library_copying"}
    return of_text(trace, imports, opened, weights, copying)


def _bertviz(trace: "Trace") -> Snippet:
    """The weights of every head of the attention."""
    weights = "weights = [trace.weights({0}, layer) for layer in range(trace.layers_of({0}))]  # [head, query, key]"
    return of_text(trace, {}, line(weights, open_head(trace)[0]))


VIEWS: Final[Views] = {"All heads": _all_heads, "QK and OV": _circuits, "bertviz": _bertviz}
