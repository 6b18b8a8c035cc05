"""The decode player over an invented decoding, alone on a page. `?repeat=` chooses the length, `?step=` the step.

Below it, outside the fragment, a text field and a count of the page's own runs.
"""

from dataclasses import replace

import numpy as np
import streamlit as st

from viz.pages.decoding.film.component import (
    PlayerCandidate,
    PlayerData,
    PlayerSpread,
    PlayerState,
    PlayerStep,
    decode_player,
    wished,
)

SOURCE = (
    *[
        "▁The", "▁animal", "▁didn", "'", "t", "▁cross", "▁the", "▁street", "▁because", "▁it", "▁was", "▁too",
        "▁tired", ".",
    ],
    "</s>",
)  # fmt: skip
TARGET = (
    *[
        "<s>", "▁Das", "▁Tier", "▁überquerte", "▁die", "▁Straße", "▁nicht", ",", "▁weil", "▁es", "▁zu", "▁müde",
        "▁war", ".",
    ],
)  # fmt: skip
OTHERS = ("▁der", "▁ein", "▁so", "s", "▁ganz", "en", "▁sehr", "שלום", "<script>alert(1)</script>", "\u202eabc", "▁auch")


def attention(layers: int, heads: int, queries: int, keys: int) -> np.ndarray:
    """Heads that follow the diagonal more or less sharply, some of them shifted."""
    rng = np.random.default_rng(2)
    distance = np.arange(queries)[:, None] * (keys / queries) - np.arange(keys)[None]
    shifts, sharp = rng.integers(-2, 3, (layers, heads, 1, 1)), 0.3 + 2 * rng.random((layers, heads, 1, 1))
    weights = np.exp(-sharp * np.abs(distance - shifts) + 0.7 * rng.normal(size=(layers, heads, queries, keys)))
    return np.asarray(weights / weights.sum(-1, keepdims=True))


def decoding(repeat: int) -> PlayerData:
    """The German sentence, `repeat` times; the third step was forced to a token outside its candidates."""
    rng = np.random.default_rng(3)
    source, target = SOURCE[:-1] * repeat + SOURCE[-1:], TARGET[:1] + TARGET[1:] * repeat
    steps, best = [], []
    for token in (*target[1:], "</s>"):
        logits = np.sort(rng.normal(size=12))[::-1] * 3
        log_probs = logits - np.log(np.exp(logits).sum())
        candidates = tuple(
            PlayerCandidate(rank, name, float(value))
            for rank, (name, value) in enumerate(zip((token, *OTHERS), log_probs, strict=True))
        )
        entropy = float(-(np.exp(log_probs) * log_probs).sum())
        steps.append(PlayerStep(0, token, candidates[0].log_prob, entropy, 1, candidates))
        best.append(log_probs)
    steps[2] = replace(steps[2], token_id=99, log_prob=-7.3, rank=40, candidates=steps[2].candidates[1:])
    cross, self_ = attention(4, 8, len(target), len(source)), np.tril(attention(4, 8, len(target), len(target)))
    nothing = np.zeros((len(steps), 3))
    spread = PlayerSpread(best=np.array(best), counts=nothing, centres=nothing, vocab_size=12)
    return PlayerData.of(source, target, steps, cross, self_ / self_.sum(-1, keepdims=True), spread)


@st.fragment
def player() -> None:
    """What a page does: take the step from the URL and write it back there, and ask for all else as it was reported."""
    repeat = int(st.query_params.get("repeat", "1"))
    step, layer = int(st.query_params.get("step", "0")), int(st.query_params.get("layer", "0"))
    unwritten, reported = st.session_state.get("reported", (None, PlayerState(0)))
    # A run that another cut short kept what was reported, and did not come to write it to this URL.
    asked = reported if unwritten == (step, layer) else replace(reported, step=step, layer=layer)
    asks = wished(decoding(repeat), key="player")
    shown, name = decoding(repeat), "headlight-film"
    stands = decode_player(shown, asked, key="player", name=name, note="", head_names=((), ()), asks=False)
    if stands is not None:
        st.session_state.reported = (step, layer), stands
        st.query_params.update(step=str(stands.step), layer=str(stands.layer))
        st.session_state.reported = None, stands
    if asks is not None:
        st.session_state.wishes = [*st.session_state.get("wishes", []), asks.wish]
    st.text(f"reported: {stands}")
    st.text(f"wishes: {st.session_state.get('wishes', [])}")


st.set_page_config(layout="wide")
st.session_state.runs = st.session_state.get("runs", 0) + 1
player()
if st.button("Jump to step 4"):
    st.query_params["step"] = "3"
    st.rerun()
if st.button("The sentence once"):
    st.query_params["repeat"] = "1"
    st.rerun()
st.text_input("Some text")
st.text(f"runs of the page: {st.session_state.runs}")
