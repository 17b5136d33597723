"""A point model of ten lines: the mean of all prices by hour."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tunnihind.forecast.columns.table import InputRows
from tunnihind.forecast.point.model import Fit
from tunnihind.known import Floats


@dataclass(frozen=True)
class MeanFit:
    mean: Floats

    def predict(self, lead: int, rows: InputRows) -> Floats:
        return np.broadcast_to(self.mean, (1, len(rows.x), 24))


@dataclass
class Mean:
    """A complete point model: the mean of all prices by hour."""

    fit_type: ClassVar[type[Fit]] = MeanFit

    seen: list[Floats] = field(default_factory=list)

    def learn(self, lead: int, rows: InputRows, price: Floats, predicted: Floats) -> None:
        self.seen.append(price)

    def fit(self, leads: Sequence[int], *, thorough: bool = True, last: Fit | None = None) -> MeanFit:
        return MeanFit(np.nanmean(np.concatenate(self.seen), axis=0))

    def copy(self) -> Mean:
        return Mean(list(self.seen))
