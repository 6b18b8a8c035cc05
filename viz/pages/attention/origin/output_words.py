"""What the last step of the story says of a head's part of the output."""


def output_step(d_v: int, heads: int, d_model: int, *, has_projection: bool) -> tuple[str, str, str]:
    """Title, formula and sentence.

    Args:
        d_v: numbers that the head puts out.
        heads, d_model: heads whose parts are added, and numbers of each part.
        has_projection: whether Wᴼ follows.
    """
    if not has_projection:
        text = f"No matrix follows: the {d_v} numbers are the context that the decoder reads; below, how long it is."
        return "The context", "c = z", text
    if heads == 1:
        text = f"Wᴼ turns the {d_v} numbers into {d_model}. There is no other head; below, how long its part is."
        return "This head's part of the output", "z · Wᴼ", text
    return (
        "This head's part of the output",
        "z · Wᴼ (this head's rows)",
        f"Wᴼ turns the {d_v} numbers into {d_model}. The parts of all {heads} heads are added; below, how long "
        "each is. They point in different directions, so lengths do not add up.",
    )
