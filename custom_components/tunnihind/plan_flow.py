"""Adding and changing plans, each a subentry of its server."""

from typing import Any, Final

from homeassistant.config_entries import ConfigSubentryData, ConfigSubentryFlow, SubentryFlowResult
from homeassistant.const import CONF_NAME

from .const import SUBENTRY_PLAN
from .plan_form import FIRST_PLAN, NEW_PLAN, SCHEMA, errors_of, plan_of, suggested

# Named once, in the language of the installation; from then on the name is the household's own.
_FIRST_NAMES: Final = {"et": "3 odavaimat tundi"}
_FIRST_NAME: Final = "Cheapest 3 hours"


def first_plan(language: str) -> ConfigSubentryData:
    """Return the plan that every server begins with."""
    return ConfigSubentryData(
        subentry_type=SUBENTRY_PLAN,
        title=_FIRST_NAMES.get(language, _FIRST_NAME),
        data=FIRST_PLAN,
        unique_id=None,
    )


class PlanFlow(ConfigSubentryFlow):
    """Adds or changes one plan; the entry takes it up without a reload."""

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Take a new plan."""
        if user_input is None:
            return self._form("user", suggested("", NEW_PLAN))
        if errors := errors_of(user_input, self._titles()):
            return self._form("user", user_input, errors)
        return self.async_create_entry(title=user_input[CONF_NAME].strip(), data=plan_of(user_input))

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Change a plan."""
        subentry = self._get_reconfigure_subentry()
        if user_input is None:
            return self._form("reconfigure", suggested(subentry.title, subentry.data))
        # Plans of one name that there are already stay, and may be changed.
        if errors := errors_of(user_input, self._titles() - {subentry.title}):
            return self._form("reconfigure", user_input, errors)
        return self.async_update_and_abort(
            self._get_entry(), subentry, title=user_input[CONF_NAME].strip(), data=plan_of(user_input)
        )

    def _titles(self) -> set[str]:
        plans = self._get_entry().subentries.values()
        return {plan.title for plan in plans if plan.subentry_type == SUBENTRY_PLAN}

    def _form(self, step_id: str, values: dict[str, Any], errors: dict[str, str] | None = None) -> SubentryFlowResult:
        schema = self.add_suggested_values_to_schema(SCHEMA, values)
        return self.async_show_form(step_id=step_id, data_schema=schema, errors=errors)
