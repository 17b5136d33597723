"""The errors of wrong values in actions, forms and documents."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
import voluptuous as vol
from homeassistant.data_entry_flow import section

from custom_components.tunnihind.actions import find_cheapest_hours, get_prices, import_past, update_plan
from custom_components.tunnihind.client.documents import MalformedDocument, about_from
from custom_components.tunnihind.forms import options_flow, plan_form, tariff_form
from custom_components.tunnihind.prices.units import Unit
from tests.support.api.api_documents import ABOUT

WRONG: Final = ("wrong", 1e300, -1, True, None, ["wrong"])
FORMS: Final[Mapping[str, vol.Schema]] = {
    "kind": plan_form.KIND_FORM,
    **{form: plan_form.plan_form_schema(Unit.CENTS, form) for form in plan_form.PlanForm},
    "unit": options_flow.UNIT_FORM,
    "package": vol.Schema({"package": tariff_form.PACKAGE_CHOICE}),
}
ACTIONS: Final[Mapping[str, vol.Schema]] = {
    "find_cheapest_hours": find_cheapest_hours.SCHEMA,
    "get_prices": get_prices.SCHEMA,
    "import_costs": import_past.COSTS_SCHEMA,
    "update_plan": vol.Schema(dict(update_plan.PLAN_FIELD_CHECKS)),
}


def wrong_values(fields: Mapping[Any, Any]) -> Iterator[dict[str, Any]]:
    """Yield one wrong value after the other for each field and for each field of each section."""
    for field, check in fields.items():
        yield from ({str(field): value} for value in WRONG)
        if isinstance(check, section):
            yield from ({str(field): value} for value in wrong_values(check.schema.schema))


@pytest.mark.parametrize("schema", [*ACTIONS.values(), *FORMS.values()], ids=[*ACTIONS, *FORMS])
def test_no_error_shows_a_value_as_python_writes_it(schema: vol.Schema) -> None:
    errors = []
    for values in wrong_values(schema.schema):
        try:
            schema(values)
        except vol.Invalid as error:
            errors += [str(one) for one in getattr(error, "errors", [error])]
    assert errors
    assert [error for error in errors if re.search(r"<\w", error)] == []


@pytest.mark.parametrize(
    ("job", "says"),
    [
        ({"duration": "01:00:00", "kind": "below"}, r"expected one of cheapest, dearest .*kind"),
        ({"duration": {"hours": 1e300}}, r"expected a shorter time .*duration"),
    ],
)
def test_a_wrong_value_is_answered_by_what_is_expected(job: dict[str, Any], says: str) -> None:
    with pytest.raises(vol.Invalid, match=says):
        find_cheapest_hours.SCHEMA(job)


def test_a_documents_wrong_zone_is_answered_by_the_list_of_zones() -> None:
    with pytest.raises(MalformedDocument, match="expected one of EE, LV, LT, FI"):
        about_from({**ABOUT, "zone": "SE"})
