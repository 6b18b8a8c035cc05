"""End what takes longer than a shared server allows, between two steps, with a sentence."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import thread_time

from model.errors import TimeLimitError
from model.interruption import interruptible
from viz.server import shared_server
from viz.text.messages import said


def check(seconds: float, reached: tuple[int, int, str] | None = None) -> None:
    """End a computation that has taken so many seconds, if that is more than this server allows.

    Args:
        seconds: that it has computed, without those that it has waited.
        reached: how far it came: units done, of how many, and what these are called.

    Raises:
        TimeLimitError: it is more.
    """
    most = shared_server.rules().seconds
    if most is not None and seconds > most:
        if reached is None:
            raise TimeLimitError(
                "Stopped: this server is shared, and gives one computation {most:,.0f} seconds. Take a shorter text, "
                "fewer sentences or a smaller model, or run Headlight on a machine of your own.",
                most=most,
            )
        done, total, unit = reached
        raise TimeLimitError(
            "Stopped after {done:,} of {total:,} {unit}: this server is shared, and gives one computation {most:,.0f} "
            "seconds. Take a shorter text, fewer sentences or a smaller model, or run Headlight on a machine of your "
            "own.",
            done=done,
            total=total,
            unit=said(unit),
            most=most,
        )


@contextmanager
def limited(clock: Callable[[], float] = thread_time) -> Iterator[None]:
    """Around what a page computes in its own thread: it ends by a TimeLimitError between two passes through a model.

    By default the processor's time of the thread counts, so a page may wait for others as long as it must.
    """
    if shared_server.rules().seconds is None:
        yield
        return
    began = clock()
    with interruptible(lambda: check(clock() - began)):
        yield
