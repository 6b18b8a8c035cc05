"""Values of the selection that people read as they are named in the code: the tabs, and what a view is called.

Standing here they come into the catalogues; `viz.text.messages` translates them where they are shown, by `_(value)`.
"""

from typing import Final

from viz.text.messages import Message, said

OPTION_NAMES: Final[tuple[Message, ...]] = (
    said("All heads"),
    said("Where a weight comes from"),
    said("QK and OV"),
    said("Take it with you"),
    said("Heatmap"),
    said("Lines"),
    said("Head view"),
    said("Model view"),
    said("Layer × head"),
    said("Map of heads"),
    said("Table"),
    said("Side by side"),
    said("Measured"),
    said("Cause"),
    said("Two models"),
    said("Film"),
    said("Branches"),
    said("Edit attention"),
    said("Logit lens"),
    said("Attribution"),
    said("Beam search"),
    said("Sampling"),
    said("Cost"),
    said("Lessons"),
    said("The Transformer"),
    said("Follow one token"),
    said("Training"),
    said("Collection"),
    said("Label smoothing"),
    said("Warm-up"),
    said("Teacher forcing"),
    said("Masks"),
    said("Positional encodings"),
    said("Architecture"),
    said("Vocabulary"),
    said("Training data"),
    said("Curves"),
    said("Scores"),
    said("Translations"),
    said("Card"),
    said("Pooling"),
    said("Table 1"),
    said("Ablations"),
    said("Through training"),
    said("Live switches"),
)
#: Likewise, the small models of `checkpoints/experiments`, by the names of their folders.
EXPERIMENT_NAMES: Final[tuple[Message, ...]] = (
    said("additive"),
    said("convolutional"),
    said("full"),
    said("learned positions"),
    said("no dropout"),
    said("no positions"),
    said("no residual"),
    said("no smoothing"),
    said("post norm"),
    said("single head"),
    said("sixteen heads"),
    said("two heads"),
    said("unscaled"),
)
#: What each page is called, by its section of the selection.
PAGE_NAMES: Final = {
    "attention": said("Attention"),
    "decoding": said("Decode"),
    "coreference": said("Compare"),
    "atlas": said("Atlas"),
    "masks_positions": said("Masks & positions"),
    "why_attention": said("Why attention?"),
    "model_card": said("Model"),
    "learn": said("Learn"),
}
