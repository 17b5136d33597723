"""The protocols of point models. A point model forecasts one price for each hour.

The forecaster works with any `LearningModel` whose method `fit` returns a `Fit`. Prices are on the asinh scale of
`known_days.price_state`. Arrays of prices have shape (n, 24) for n days.
"""

from collections.abc import Sequence
from typing import ClassVar, Final, Protocol, runtime_checkable

from tunnihind.forecast.columns.table import InputRows
from tunnihind.known import Floats

ENOUGH_PRICE_DAYS: Final = 120
"""With fewer days of prices, a point model's forecast is averaged with that of `LastWeeksMean`, or replaced by it."""


@runtime_checkable
class Fit(Protocol):
    """A model fitted for some leads. A fit must be an immutable dataclass that `replay.learnt` can convert."""

    def predict(self, lead: int, rows: InputRows) -> Floats:
        """Return the forecasts of the n days in `rows` and other numbers of the model's choice, shape (k, n, 24).

        The first of the k arrays holds the forecasts. In a replay, `LearningModel.learn` gets all k arrays.
        """


@runtime_checkable
class LearningModel(Protocol):
    """A model that learns from past days in chronological order.

    The model must be a dataclass that `replay.learnt` can convert. A model that was stored and restored must make the
    same forecasts as before.
    """

    fit_type: ClassVar[type[Fit]]
    """The type that `fit` returns."""

    def learn(self, lead: int, rows: InputRows, price: Floats, predicted: Floats) -> None:
        """Learn from consecutive days, oldest day first.

        `price` (n, 24) holds the actual prices. Unknown prices are NaN. `predicted` (k, n, 24) holds the numbers that
        `Fit.predict` returned for these days. If a day was not forecast, its values in `predicted` are NaN. If no day
        was forecast, `predicted` has shape (1, n, 24).
        """

    def fit(self, leads: Sequence[int], *, thorough: bool = True, last: Fit | None = None) -> Fit:
        """Fit the model of each lead to all learnt days.

        `leads` must be in ascending order and begin with lead 1. If `thorough` is false, the model may leave out slow
        computations, or reuse their results from the earlier fit `last`.
        """

    def copy(self) -> LearningModel:
        """Return an independent copy of the model."""


class PointModelFactory(Protocol):
    """Creates point models. The class of a `LearningModel` is such a factory."""

    def __call__(self) -> LearningModel:
        """Return a model that has not learnt from any day yet."""
