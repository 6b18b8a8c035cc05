"""The metrics of heads that tell when the words of a recording are spoken, as people read them."""

from collections.abc import Mapping
from typing import Final

from viz.text.messages import said
from viz.text.metric import Metric
from viz.text.written import CROSS, DECODER, ENCODER


def _metric(name: str, meaning: str, *, chance: float | None = None) -> Metric:
    """One of them, in seconds."""
    return Metric(
        name=name,
        meaning=meaning,
        none_at=dict.fromkeys(
            (ENCODER, DECODER, CROSS),
            said(
                "Only the cross-attention heads of a speech model yield word times. Load the word times of "
                "recordings under “Recordings”; without them, only “Distance from other heads” is measured."
            ),
        ),
        over="corpus",
        unit=said("s"),
        decimals=3,
        chance=chance,
        is_share=False,
        is_error=chance is None,
        elsewhere=said(
            "“{name}” is a median over the words of all recordings, so no single recording is the strongest."
        ),
        formula=r"t_w = \min\,\{\,f : (i_w, f) \in \mathrm{DTW}(\hat\alpha)\,\}",
        source=said(
            "α̂: weights of the frames with sound, renormalised, z-scores over rows, median of 7 frames; t_w: the first "
            "frame of the first row of word w on the warping path. A recording's first word is left out: it is put at "
            "0 s whatever the head attends to. OpenAI 2022, whisper/timing.py."
        ),
    )


METRICS: Final[Mapping[str, Metric]] = {
    "timing_error": _metric(
        said("Error of word times"),
        said("the median distance from the word starts that you gave, including the constant lag; lower is better"),
    ),
    "timing_lag": _metric(
        said("Lag of word times"),
        said("the median of the start found minus the start given: above 0 is late, below 0 early"),
        chance=0.0,
    ),
    "timing_less_lag": _metric(
        said("Error minus lag"),
        said("the error after subtracting the lag of the other half of the words; lower is better"),
    ),
    "timing_apart": _metric(
        said("Distance from other heads"),
        said(
            "how far the word starts that the head gives are from those of the model's own alignment heads or, if the "
            "model lists none, of all other heads, as a median over words; agreement is not accuracy"
        ),
    ),
}
