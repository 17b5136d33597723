"""A window as actions answer it."""

from homeassistant.util.json import JsonObjectType

from ..plans.outcome import NoWindow, Outcome
from ..plans.saving import Cost, Saving
from .call import times


def window_answer(outcome: Outcome) -> JsonObjectType:
    """Return a window with what it costs and saves, or why there is none."""
    if isinstance(outcome, NoWindow):
        return {"found": False, "reason": outcome.reason}
    return {
        "found": True,
        **times(outcome.start, outcome.end),
        "pieces": [times(start, end) for start, end in outcome.pieces],
        "average": outcome.average,
        "forecast_share": outcome.forecast_share,
        "shortened": outcome.shortened,
        **(_saving(outcome.saving) if outcome.saving else {}),
        **(_cost(outcome.cost) if outcome.cost else {}),
    }


def _saving(saving: Saving) -> JsonObjectType:
    return {
        "saving": {"expected": saving.expected, "p10": saving.low, "p90": saving.high},
        "chance": saving.chance,
    }


def _cost(cost: Cost) -> JsonObjectType:
    return {"cost": {"expected": cost.expected, "p10": cost.low, "p90": cost.high, "energy": cost.energy}}
