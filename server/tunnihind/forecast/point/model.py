"""The protocols of a point model. It learns each hour's price from columns, and doesn't know where they come from.

The replay, the tiers and the intervals work for any model that follows these protocols. Prices are in the asinh scale
of `known_days.price_state`; arrays of days have shape (n, 24).
"""

from collections.abc import Sequence
from typing import ClassVar, Final, Protocol, runtime_checkable

from tunnihind.forecast.columns.table import Rows
from tunnihind.forecast.known import Floats

ENOUGH_DAYS: Final = 120
"""With this many days, a point model is used alone. With fewer days, the mean of the last weeks is mixed in."""


@runtime_checkable
class Fit(Protocol):
    """A fitted model of some leads. It never changes.

    It is a dataclass of plain data, like `Learning`.
    """

    def predict(self, lead: int, rows: Rows) -> Floats:
        """Return the forecast of rows, shape (1, n, 24), or (k, n, 24) with the forecast first.

        The model chooses the other k - 1 rows. `Learning.learn` gets them back together with the actual prices.
        """


@runtime_checkable
class Learning(Protocol):
    """A model that learns one day after another.

    It is a dataclass, and its fields hold all its learning: arrays, numbers and mappings (see `replay.learnt`). So it
    can be kept in a file, and a model restored from the file forecasts the same.
    """

    fit_type: ClassVar[type[Fit]]
    """The type that `fit` returns."""

    def learn(self, lead: int, rows: Rows, price: Floats, predicted: Floats) -> None:
        """Learn consecutive days, oldest first, with the forecasts made before their prices were known.

        `price` (n, 24) is NaN where unknown. `predicted` is the array from `Fit.predict`. It is NaN where there was no
        forecast.
        """

    def fit(self, leads: Sequence[int], *, thorough: bool = True, last: Fit | None = None) -> Fit:
        """Fit leads, in order from the first, on all days learnt.

        If the fit need not be thorough, a model may leave out slow parts, or take them from the `last` fit.
        """

    def copy(self) -> Learning:
        """Return an independent copy."""


class PointModel(Protocol):
    """Makes a model that has learnt nothing yet."""

    def __call__(self) -> Learning:
        """Return the new model."""
