"""The answer about how the served forecasts did: its types, and its making from a view."""

import math
from typing import Annotated, Any

from msgspec import Meta, Struct

from tunnihind.api.models import MadeAt, Now
from tunnihind.api.view import View
from tunnihind.forecast.scoring.live_scores import WindowScores
from tunnihind.forecast.scoring.scores import Scores


def _error(description: str, example: float) -> Meta:
    return Meta(description=f"{description}, EUR/MWh. Null without hours to score.", examples=[example])


def _share(description: str, example: float) -> Meta:
    return Meta(description=f"{description}, a fraction. Null without hours to score.", examples=[example])


class AccuracyScores(Struct, frozen=True, rename="camel", kw_only=True):
    """How forecasts did over a number of hours."""

    n: Annotated[int, Meta(description="Hours scored.", examples=[720], ge=0)]
    mae: Annotated[float | None, _error("Mean absolute error of p50", 31.4)]
    baseline_mae: Annotated[float | None, _error("MAE of the price one week earlier", 52.3)]
    skill: Annotated[float | None, _share("1 - mae/baselineMae", 0.3996)]
    coverage80: Annotated[float | None, _share("Hours whose price lay between p10 and p90; 0.8 is right", 0.802)]
    below10: Annotated[float | None, _share("Hours whose price lay below p10; 0.1 is right", 0.096)]
    above90: Annotated[float | None, _share("Hours whose price lay above p90; 0.1 is right", 0.102)]
    pinball: Annotated[float | None, _error("Mean pinball loss of p10, p50 and p90", 10.4)]
    winkler80: Annotated[float | None, _error("Mean Winkler score of the interval from p10 to p90", 154.3)]
    width: Annotated[float | None, _error("Mean width of the interval from p10 to p90", 101.7)]


class AccuracyAhead(AccuracyScores, frozen=True, rename="camel", kw_only=True):
    """How forecasts did that were made a number of days ahead."""

    days_ahead: Annotated[
        int,
        Meta(
            description="Delivery days from the morning on which the forecast was made to the hour.",
            examples=[1],
            ge=1,
            le=7,
        ),
    ]


class AccuracyWindow(Struct, frozen=True, rename="camel", kw_only=True):
    """The scores over the delivery days up to the newest settled one."""

    days: Annotated[int, Meta(description="Delivery days in the window.", examples=[30])]
    overall: Annotated[AccuracyScores, Meta(description="Over all days ahead.")]
    by_days_ahead: Annotated[list[AccuracyAhead], Meta(description="By days ahead, ascending.")]


class AccuracyResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """Forecasts exactly as they were issued, against the prices that came."""

    now: Now
    made_at: MadeAt
    tier: Annotated[
        str | None,
        Meta(
            description="What the served forecast rests on, from the richest inputs to the poorest. Null without one.",
            examples=["weather"],
        ),
    ]
    windows: Annotated[
        list[AccuracyWindow],
        Meta(description="Windows of 7, 30 and 90 delivery days; empty until forecasts have been scored."),
    ]


def accuracy_response(view: View, now: int) -> AccuracyResponse:
    """Answer `GET /api/v1/accuracy` as of `now`, unix seconds."""
    return AccuracyResponse(
        now=now,
        made_at=view.run.made_at if view.run else None,
        tier=view.run.tier if view.run else None,
        windows=[_window(window) for window in view.accuracy],
    )


def _window(scores: WindowScores) -> AccuracyWindow:
    return AccuracyWindow(
        days=scores.days,
        overall=AccuracyScores(**_rounded(scores.overall)),
        by_days_ahead=[
            AccuracyAhead(days_ahead=lead, **_rounded(scores.by_days_ahead[lead]))
            for lead in sorted(scores.by_days_ahead)
        ],
    )


def _rounded(scores: Scores) -> dict[str, Any]:
    """Round errors to 2 decimals and shares to 4; what couldn't be scored is null."""
    shares = {"skill", "coverage80", "below10", "above90"}
    figures = {name: getattr(scores, name) for name in AccuracyScores.__struct_fields__}
    return {
        name: None if math.isnan(figure) else round(figure, 4 if name in shares else 2)
        for name, figure in figures.items()
    }
