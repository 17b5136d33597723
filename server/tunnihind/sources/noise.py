"""Random numbers as a pure function of time, for the simulated market.

A counter-based generator (Philox) gives the numbers of any stretch of time without those before it, and gives
the same ones whenever it is asked.
"""

from typing import Final

import numpy as np

from tunnihind.known import Floats, Instants

_DRAWS: Final = 4
"""One step of Philox's counter yields four numbers; their sum is close enough to a normal one."""


class Noise:
    """Streams of noise, each known by its name; all have mean 0 and variance 1."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def white(self, stream: str, index: Instants) -> Floats:
        """Return one independent number for each value of `index`, shape as given."""
        first = int(index.min())
        values: Floats = self._draw(stream, first, int(index.max()) - first + 1)[index - first]
        return values

    def smooth(self, stream: str, ts: Floats, knot_s: float) -> Floats:
        """Return a continuous process at the instants `ts`, which forgets itself over about `knot_s` seconds."""
        knot, fraction = np.divmod(ts / knot_s, 1.0)
        index = knot.astype(np.int64)
        first = int(index.min())
        values = self._draw(stream, first, int(index.max()) - first + 2)
        # A quarter turn from one knot's number to the next one's keeps the variance at 1 between them.
        angle = (3.0 - 2.0 * fraction) * fraction**2 * (np.pi / 2)
        process: Floats = values[index - first] * np.cos(angle) + values[index - first + 1] * np.sin(angle)
        return process

    def _draw(self, stream: str, first: int, count: int) -> Floats:
        key = np.random.SeedSequence([self._seed, *stream.encode()]).generate_state(2, np.uint64)
        generator = np.random.Philox(key=key)
        generator.advance(first)
        raw = generator.random_raw(_DRAWS * count).reshape(count, _DRAWS)
        uniform = (raw >> np.uint64(11)) * 2.0**-53
        normal: Floats = (uniform.sum(axis=1) - _DRAWS / 2) * np.sqrt(12 / _DRAWS)
        return normal
