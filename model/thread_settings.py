"""Tell the threads of torch's products to sleep while they wait; to be called before torch is imported."""

import os


def sleep_while_waiting() -> None:
    """Let OpenMP's threads leave their core at once when they have to wait, where they would keep it busy for a while.

    Alone on its cores a product gains nothing by it and loses nothing. Beside a browser that draws, or another session,
    threads that keep a core busy wait for one that has none: decoding a sentence then took ten times as long. What a
    person has set in the environment stays.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
