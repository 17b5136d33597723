"""What the form says when a plan is saved that starts at once, or whose price limit may be meant in euros."""

from typing import Any, Final

import pytest
from homeassistant.data_entry_flow import FlowResultType

from tests.support.household.automations import cheap_in, hours_from
from tests.support.household.home import PLAN_ID, Home, MakeHome, instant
from tests.support.household.steering import call, save_form, window_of

# Electricity is cheap in the morning and expensive in the evening, when the plan is made.
EVENING: Final = "2026-01-14T22:10:00+02:00"
CHEAP: Final = hours_from(instant("2026-01-14T08:00:00+02:00"), 8)
PLAN: Final[dict[str, Any]] = {
    "name": "Boiler",
    "duration": {"hours": 3},
    "pieces": {"split": "split"},
    "when": {"weekdays": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "days": 1},
    "prices": {"horizon": "published"},
}


@pytest.fixture
async def evening(make_home: MakeHome) -> Home:
    home = await make_home(EVENING, price_of=cheap_in(CHEAP))
    await home.add(plans={PLAN_ID: {"duration": 60, "split": False, "deadline": "07:00:00"}})
    return home


async def notes_of_new_plan(home: Home, kind: str = "cheapest", **fields: Any) -> str:  # noqa: ANN401  any field
    """Add a plan, and return what the form says after it is added. Fields that are None stay empty."""
    flows = home.hass.config_entries.subentries
    form = await flows.async_init((home.entry.entry_id, "plan"), context={"source": "user"})
    form = await flows.async_configure(form["flow_id"], {"kind": kind})
    typed = {key: value for key, value in {**PLAN, **fields}.items() if value is not None}
    result = await flows.async_configure(form["flow_id"], typed)
    assert result["type"] is FlowResultType.CREATE_ENTRY
    await home.settle()
    return (result["description_placeholders"] or {})["notes"].strip()


async def test_a_new_plan_says_that_it_starts_at_once_shortened_and_expensive(evening: Home) -> None:
    assert (await notes_of_new_plan(evening)).split("\n\n") == [
        "The plan starts at once: 22:15–00:00, for 12.40 c/kWh on average.",
        "This window is shorter than the duration that you chose, because too little time or too few prices are left.",
        "That is more than today's average price.",
        "If you don't want that, turn the plan's switch off for today.",
    ]
    new = next(plan for plan in evening.entry.subentries if plan != PLAN_ID)
    assert evening.state("binary_sensor", "window", new).attributes["pieces"][0]["start"][11:16] == "22:15"


async def test_a_new_plan_says_until_when_it_fills_a_car(evening: Home) -> None:
    car = {"energy": 1, "power": 2, "energy_full": 3, "pieces": {"split": "split", "min_piece": {"minutes": 15}}}
    notes = await notes_of_new_plan(evening, "cheapest_by_energy", duration=None, **car)
    assert notes.startswith("The plan starts at once: 22:15–23:45, for 12.40 c/kWh on average.")


async def test_a_new_plan_that_starts_later_or_in_full_at_a_low_price_says_nothing(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T08:00:00+02:00", price_of=cheap_in(CHEAP))
    await home.add()
    assert await notes_of_new_plan(home) == ""
    assert await notes_of_new_plan(home, name="Car", when={**PLAN["when"], "earliest": "20:00:00"}) == ""


@pytest.mark.parametrize(
    ("unit", "typed", "says"),
    [
        ("cents", 0.25, "The price limit is 0.25 c/kWh, less than one cent. If you mean 0.25 EUR/kWh, enter 25."),
        ("cents", 0.5, ""),
        ("cents", 0, ""),
        ("euros", 0.25, ""),
        ("euros", 0.005, ""),
    ],
)
async def test_a_limit_below_half_a_cent_is_kept_and_explained(
    make_home: MakeHome, unit: str, typed: float, says: str
) -> None:
    home = await make_home()
    await home.add(options={"unit": unit})
    when = {**PLAN["when"], "earliest": "20:00:00"}
    assert await notes_of_new_plan(home, when=when, prices={"horizon": "published", "price_cap": typed}) == says
    new = next(plan for plan_id, plan in home.entry.subentries.items() if plan_id != PLAN_ID)
    assert new.data["price_cap"] == pytest.approx(typed if unit == "cents" else typed * 100)


async def test_a_changed_plan_explains_its_limit_too(evening: Home) -> None:
    result = await save_form(evening, when=PLAN["when"], prices={"horizon": "published", "price_cap": 0.25})
    assert "enter 25." in result["description_placeholders"]["notes"]


@pytest.mark.parametrize("cents", [0.25, 25])
async def test_an_action_answers_a_limit_below_half_a_cent_with_a_hint(evening: Home, cents: float) -> None:
    data = {"duration": "01:00:00", "price_cap": cents}
    job = await call(evening, "tunnihind.find_cheapest_hours", answers=True, **data)
    plan = {"entity_id": window_of(evening), "price_cap": cents}
    update = await call(evening, "tunnihind.update_plan", answers=True, **plan)
    assert update["plans"][0]["changed"] == ["price_cap"]
    hint = "The price limit is 0.25 c/kWh, less than one cent. If you mean 0.25 EUR/kWh, enter 25."
    assert [answer.get("hint") for answer in (job, update)] == [hint if cents < 1 else None] * 2


async def test_a_call_without_an_answer_logs_the_hint(evening: Home, caplog: pytest.LogCaptureFixture) -> None:
    await call(evening, "tunnihind.update_plan", entity_id=window_of(evening), price_cap=0.25)
    assert "If you mean 0.25 EUR/kWh, enter 25." in caplog.text
