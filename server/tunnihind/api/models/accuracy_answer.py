"""The types of the JSON answer of `/api/v1/accuracy`."""

from typing import Annotated

from msgspec import Meta, Struct

from tunnihind.api.models.fields import MadeAt, Now


def _error_field(description: str, example: float) -> Meta:
    return Meta(description=f"{description}, EUR/MWh. Null without hours to score.", examples=[example])


def _share_field(description: str, example: float) -> Meta:
    return Meta(description=f"{description}. Null without hours to score.", examples=[example])


class AccuracyScores(Struct, frozen=True, rename="camel", kw_only=True):
    """Scores of forecasts over `n` hours."""

    n: Annotated[int, Meta(description="Hours scored.", examples=[720], ge=0)]
    mae: Annotated[float | None, _error_field("Mean absolute error of p50", 31.4)]
    baseline_mae: Annotated[float | None, _error_field("MAE of the price one week earlier", 52.3)]
    skill: Annotated[float | None, _share_field("1 - mae/baselineMae, a fraction", 0.3996)]
    coverage80: Annotated[
        float | None, _share_field("Hours whose price lay between p10 and p90, as a fraction; 0.8 is right", 0.802)
    ]
    below10: Annotated[
        float | None, _share_field("Hours whose price lay below p10, as a fraction; 0.1 is right", 0.096)
    ]
    above90: Annotated[
        float | None, _share_field("Hours whose price lay above p90, as a fraction; 0.1 is right", 0.102)
    ]
    pinball: Annotated[float | None, _error_field("Mean pinball loss of p10, p50 and p90", 10.4)]
    winkler80: Annotated[float | None, _error_field("Mean Winkler score of the interval from p10 to p90", 154.3)]
    width: Annotated[float | None, _error_field("Mean width of the interval from p10 to p90", 101.7)]


class AccuracyAhead(AccuracyScores, frozen=True, rename="camel", kw_only=True):
    """Scores of forecasts made `daysAhead` days ahead."""

    days_ahead: Annotated[
        int,
        Meta(
            description="Delivery days from the morning of the forecast to the forecast hour.",
            examples=[1],
            ge=1,
            le=7,
        ),
    ]


def _saving_field(description: str, example: float) -> Meta:
    return Meta(description=f"{description}, EUR/MWh without VAT. Null without plans to score.", examples=[example])


class AccuracyPlans(Struct, frozen=True, rename="camel", kw_only=True):
    """Savings of plans that took the hours with the lowest forecast prices.

    The hours of a plan need not be consecutive. If hours have equal forecast prices, a plan takes the earliest of these
    hours.

    A plan's saving is the mean actual price of the plan's days minus the mean actual price of the plan's hours. Each
    share is the sum of the plans' savings divided by the sum of the savings with perfect foresight. Days and weeks with
    an unknown price or forecast are not scored.
    """

    hours: Annotated[int, Meta(description="Hours that each plan takes.", examples=[4])]
    n: Annotated[
        int,
        Meta(
            description="Number of plans scored. Each plan covers one delivery day, or in `week` seven delivery days.",
            examples=[30],
            ge=0,
        ),
    ]
    share: Annotated[
        float | None,
        Meta(
            description="Saving of plans by p50 as a fraction of the ideal saving. 1 is perfect. 0 is no better than "
            "hours chosen at random. Null if nothing could be saved.",
            examples=[0.8385],
        ),
    ]
    baseline_share: Annotated[
        float | None, Meta(description="As `share`, for plans by the price one week earlier.", examples=[0.7112])
    ]
    seven_day_mean_share: Annotated[
        float | None,
        Meta(
            description="As `share`, for plans by the mean of the seven delivery days up to the day of issue.",
            examples=[0.7571],
        ),
    ]
    saving: Annotated[float | None, _saving_field("Mean saving of plans by p50", 44.2)]
    baseline_saving: Annotated[float | None, _saving_field("Mean saving of plans by the price one week earlier", 37.49)]
    ideal_saving: Annotated[float | None, _saving_field("Mean saving with perfect foresight, the ideal", 52.71)]


class AccuracyDecisionsAhead(Struct, frozen=True, rename="camel", kw_only=True):
    """Savings of plans within one delivery day. The plans follow forecasts made `daysAhead` days ahead."""

    days_ahead: Annotated[int, Meta(description="As in AccuracyAhead.", examples=[1], ge=1, le=7)]
    plans: Annotated[list[AccuracyPlans], Meta(description="Plans of 1, 3, 4 and 6 hours.")]
    boiler_eur_a_year: Annotated[
        float | None,
        Meta(
            description="Saving of a 3 kW boiler in 365 such days, EUR without VAT. The boiler runs in the 3 cheapest "
            "hours of each day by p50. The cost is compared with the cost at the day's mean price. Null without plans "
            "to score.",
            examples=[152.6],
        ),
    ]
    baseline_boiler_eur_a_year: Annotated[
        float | None, Meta(description="As `boilerEurAYear`, by the price one week earlier.", examples=[128.2])
    ]
    ideal_boiler_eur_a_year: Annotated[
        float | None, Meta(description="As `boilerEurAYear`, with perfect foresight.", examples=[182.6])
    ]


class AccuracyDecisions(Struct, frozen=True, rename="camel", kw_only=True):
    """Savings of plans that follow the forecasts."""

    by_days_ahead: Annotated[
        list[AccuracyDecisionsAhead], Meta(description="Plans within one delivery day, by days ahead, ascending.")
    ]
    week: Annotated[
        AccuracyPlans,
        Meta(description="Plans of 4 hours within the seven delivery days that follow the day of issue."),
    ]


class AccuracyWindow(Struct, frozen=True, rename="camel", kw_only=True):
    """The scores over the last `days` delivery days, up to the newest settled day."""

    days: Annotated[int, Meta(description="Delivery days in the window.", examples=[30])]
    overall: Annotated[AccuracyScores, Meta(description="Over all days ahead.")]
    by_days_ahead: Annotated[list[AccuracyAhead], Meta(description="By days ahead, ascending.")]
    decisions: Annotated[AccuracyDecisions, Meta(description="The savings of plans by these forecasts.")]


class AccuracyResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """The scores of forecasts exactly as issued, compared with the actual prices."""

    now: Now
    made_at: MadeAt
    tier: Annotated[
        str | None,
        Meta(
            description="The kind of inputs that the served forecast could use. Null without a forecast.",
            examples=["weather"],
        ),
    ]
    windows: Annotated[
        list[AccuracyWindow],
        Meta(description="Windows of 7, 30 and 90 delivery days; empty until forecasts have been scored."),
    ]
