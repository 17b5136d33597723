"""The protocols of a point model. It learns each hour's price from columns, and doesn't know where they come from.

Below it are the columns, above it the replay of the past, tiers and intervals, which work for any model that keeps
these protocols. Prices are in the asinh scale of `known_days.price_state`; arrays of days have shape (n, 24).
"""

from collections.abc import Sequence
from typing import ClassVar, Final, Protocol, runtime_checkable

from tunnihind.forecast.columns.table import Rows
from tunnihind.forecast.known import Floats

ENOUGH_DAYS: Final = 120
"""With this many days a point model stands by itself; with fewer the mean of the last weeks has a say too."""


@runtime_checkable
class Fit(Protocol):
    """A fitted model of some leads, which never changes.

    It is a dataclass of plain data, as `Learning` is.
    """

    def predict(self, lead: int, rows: Rows) -> Floats:
        """Return the forecast of rows, shape (1, n, 24), or (k, n, 24) with the forecast first.

        The rows behind the forecast are the model's own. `Learning.learn` gets them back with the prices that came.
        """


@runtime_checkable
class Learning(Protocol):
    """A model at work: it takes in one day after another.

    It is a dataclass, and all that it has learnt is in its fields: arrays, numbers and mappings (see `replay.learnt`).
    So it can be kept in a file, and one that is made from it again says the same.
    """

    fit_type: ClassVar[type[Fit]]
    """The type that `fit` returns."""

    def learn(self, lead: int, rows: Rows, price: Floats, predicted: Floats) -> None:
        """Take in consecutive days, oldest first, with what was predicted for them before they were known.

        `price` (n, 24) is NaN where unknown. `predicted` is as `Fit.predict` gave it, NaN where nothing was.
        """

    def fit(self, leads: Sequence[int], *, thorough: bool = True, last: Fit | None = None) -> Fit:
        """Fit leads, in order from the first, on all days taken in.

        Where it need not be thorough, a model may leave out what is slow to fit, or take it over from the `last` fit.
        """

    def copy(self) -> Learning:
        """Return one that goes its own way from here."""


class PointModel(Protocol):
    """Makes a model that has seen nothing yet."""

    def __call__(self) -> Learning:
        """Begin to learn."""
