"""What the last step of the story says of a head's part of the output."""

from viz.text.messages import _


def output_step(d_v: int, heads: int, d_model: int, *, has_projection: bool) -> tuple[str, str, str]:
    """Title, formula and sentence.

    Args:
        d_v: numbers that the head puts out.
        heads, d_model: heads whose parts are added, and numbers of each part.
        has_projection: whether Wᴼ follows.
    """
    if not has_projection:
        text = _(
            "No matrix follows: the {d_v} numbers are the context that the decoder reads; below, how long it is.",
            d_v=d_v,
        )
        return _("The context"), "c = z", text
    title = _("This head's part of the output")
    if heads == 1:
        text = _(
            "Wᴼ turns the {d_v} numbers into {d_model}. There is no other head; below, how long its part is.",
            d_v=d_v,
            d_model=d_model,
        )
        return title, "z · Wᴼ", text
    text = _(
        "Wᴼ turns the {d_v} numbers into {d_model}. The parts of all {heads} heads are added; below, how long each is. "
        "They point in different directions, so lengths do not add up.",
        d_v=d_v,
        d_model=d_model,
        heads=heads,
    )
    return title, _("z · Wᴼ (this head's rows)"), text
