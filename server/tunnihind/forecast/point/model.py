"""The protocols of point models. A point model learns each hour's price from columns.

The replay, the tiers and the intervals work for any model that follows these protocols. Prices are in the asinh scale
of `known_days.price_state`. Arrays of prices have shape (n, 24).
"""

from collections.abc import Sequence
from typing import ClassVar, Final, Protocol, runtime_checkable

from tunnihind.forecast.columns.table import Rows
from tunnihind.forecast.known import Floats

ENOUGH_DAYS: Final = 120
"""With this many days, a point model is used alone. With fewer days, the mean of the last weeks is mixed in."""


@runtime_checkable
class Fit(Protocol):
    """An immutable fitted model of some leads.

    A fit is a dataclass of plain data, like `Learning`.
    """

    def predict(self, lead: int, rows: Rows) -> Floats:
        """Return an array (k, n, 24) whose first part is the forecast of the rows.

        The model may add k - 1 parts for its own use. `Learning.learn` gets all parts back, together with the actual
        prices.
        """


@runtime_checkable
class Learning(Protocol):
    """A model that learns one day after another.

    The model must be a dataclass. The fields of the dataclass hold the model's whole state as arrays, numbers and
    mappings (see `replay.learnt`). So the state can be kept in a file. A model restored from the file makes the same
    forecasts.
    """

    fit_type: ClassVar[type[Fit]]
    """The type that `fit` returns."""

    def learn(self, lead: int, rows: Rows, price: Floats, predicted: Floats) -> None:
        """Learn from the prices of consecutive days, oldest first.

        `price` (n, 24) is NaN where unknown. `predicted` is the array that `Fit.predict` returned for the days.
        `predicted` is NaN where no forecast was made.
        """

    def fit(self, leads: Sequence[int], *, thorough: bool = True, last: Fit | None = None) -> Fit:
        """Fit the model of each lead to all days learnt. `leads` begins with lead 1 and ascends.

        If `thorough` is false, the model may leave out slow parts of the fit, or take these parts from the `last` fit.
        """

    def copy(self) -> Learning:
        """Return an independent copy."""


class PointModel(Protocol):
    """Makes a model without any learnt days."""

    def __call__(self) -> Learning:
        """Return the new model."""
