"""Adds a server: by its address, found on the network, or announced by the Supervisor."""

from collections.abc import Mapping
from typing import Any, Final, override

import voluptuous as vol
from homeassistant.config_entries import (
    SOURCE_IGNORE,
    ConfigEntry,
    ConfigEntryState,
    ConfigFlow,
    ConfigFlowResult,
    ConfigSubentryFlow,
    OptionsFlow,
)
from homeassistant.const import CONF_URL
from homeassistant.core import callback
from homeassistant.data_entry_flow import AbortFlow
from homeassistant.helpers.selector import TextSelector, TextSelectorConfig, TextSelectorType
from homeassistant.helpers.service_info.hassio import HassioServiceInfo
from homeassistant.helpers.service_info.zeroconf import ZeroconfServiceInfo
from yarl import URL

from .const import CONF_INSTANCE_ID, CONF_REHEARSAL, DOMAIN, SUBENTRY_PLAN
from .coordinator import TunnihindConfigEntry
from .errors import RehearsalOver, ServerIsRehearsal, TunnihindError
from .forms.options_flow import BILLING_QUESTION, TunnihindOptionsFlow
from .forms.plan_flow import PlanFlow, first_plan
from .forms.tariff_form import PACKAGE, PACKAGE_CHOICE
from .forms.tariff_step import CurrentPeriod, TariffStep
from .prices.billing import BILLED_BY, Resolution, billing_from
from .prices.rates import Package
from .prices.tariff import SPECIFICATION_VAT_RATE
from .server.client import server_url, without_password
from .server.clock import home_now
from .server.server import Server, ask, with_quarters

EXAMPLE_URL: Final = "http://192.168.1.10:8080"
# `./run serve` on the machine that Home Assistant runs on.
LOCAL_URL: Final = "http://localhost:8080"

_ADDRESS: Final = vol.Schema({vol.Required(CONF_URL): TextSelector(TextSelectorConfig(type=TextSelectorType.URL))})
# About the bill. Without a package, prices are the market's with VAT until the household chooses one.
_QUESTIONS: Final = BILLING_QUESTION.extend({vol.Optional(PACKAGE): PACKAGE_CHOICE})
_NEW_SERVER: Final = _ADDRESS.extend(_QUESTIONS.schema)
_NO_QUESTION: Final = vol.Schema({})


class TunnihindConfigFlow(TariffStep, ConfigFlow, domain=DOMAIN):
    """Adds one server, or changes where it is found."""

    _found: Server
    _app: str

    def __init__(self) -> None:
        self._errors: dict[str, str] = {}
        self._tried = {"example": EXAMPLE_URL, "url": "", "reason": ""}
        self._answers: dict[str, Any] = {}
        self._package: Package | None = None

    @staticmethod
    @callback
    @override
    def async_get_options_flow(config_entry: ConfigEntry) -> OptionsFlow:
        """Return what changes prices."""
        return TunnihindOptionsFlow()

    @classmethod
    @callback
    @override
    def async_get_supported_subentry_types(cls, config_entry: ConfigEntry) -> dict[str, type[ConfigSubentryFlow]]:
        """Return what a server can have: plans."""
        return {SUBENTRY_PLAN: PlanFlow}

    @override
    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Take the address of a server, and see whether one answers."""
        server = await self._server_at(user_input)
        if server is None:
            return self._address_form("user", _NEW_SERVER, user_input or {CONF_URL: LOCAL_URL})
        self._take_options(user_input)
        await self.async_set_unique_id(server.unique_id, raise_on_progress=False)
        self._abort_if_unique_id_configured()
        self._abort_if_address_is_taken(server)
        self._found = server
        return await self.async_step_rehearsal() if server.is_rehearsal else await self._finish()

    async def async_step_rehearsal(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Explain a rehearsal before it is added: the day is past, but automations switch real devices."""
        return await self._confirm("rehearsal", _NO_QUESTION, user_input, {"url": without_password(self._found.url)})

    async def async_step_tariff(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Show what the household pays with its network package, for it to confirm and complete."""
        if user_input is None:
            if billing_from(self._answers).billed_by is Resolution.QUARTER:
                self._found = await with_quarters(self.hass, self._found)
            return await self._open_form("tariff", None, needs_date=None, package=self._package)
        answers, form = self._take_form("tariff", user_input)
        self._answers |= answers
        return form or self._create()

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Take a new address of the same server."""
        entry = self._get_reconfigure_entry()
        server = await self._server_at(user_input)
        if server is None:
            return self._address_form("reconfigure", _ADDRESS, user_input or dict(entry.data))
        if server.is_rehearsal is not entry.data.get(CONF_REHEARSAL, False):
            error = ServerIsRehearsal if server.is_rehearsal else RehearsalOver
            self._errors[CONF_URL] = error.key
            return self._address_form("reconfigure", _ADDRESS, user_input or dict(entry.data))
        holder = await self.async_set_unique_id(server.unique_id, raise_on_progress=False)
        if holder not in {None, entry}:
            return self.async_abort(reason="already_configured")
        self._abort_if_address_is_taken(server, but=entry)
        self._found = server
        if entry.data[CONF_INSTANCE_ID] in {None, server.instance_id}:
            return self._move()
        return await self.async_step_replace()

    async def async_step_replace(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask whether to replace the server by another one. A server that was installed again counts as another one."""
        if user_input is not None:
            return self._move()
        return self.async_show_form(step_id="replace", description_placeholders={"url": self._tried["url"]})

    @override
    async def async_step_zeroconf(self, discovery_info: ZeroconfServiceInfo) -> ConfigFlowResult:
        """Take a server that announced itself, or the new address of one that is known."""
        prefix = discovery_info.properties.get("path") or ""
        url = URL.build(scheme="http", host=discovery_info.host, port=discovery_info.port, path=prefix)
        return await self._discovered(url) or await self.async_step_zeroconf_confirm()

    async def async_step_zeroconf_confirm(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask whether to add the server that was found."""
        name = self._found.name(self.hass.config.language)
        placeholders = {"name": name, "url": self._found.url}
        return await self._confirm("zeroconf_confirm", _QUESTIONS, user_input, placeholders)

    @override
    async def async_step_hassio(self, discovery_info: HassioServiceInfo) -> ConfigFlowResult:
        """Take the server that runs as an app beside Home Assistant, or its new address."""
        url = URL.build(scheme="http", host=discovery_info.config["host"], port=discovery_info.config["port"])
        self._app = discovery_info.name
        return await self._discovered(url) or await self.async_step_hassio_confirm()

    async def async_step_hassio_confirm(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask whether to add the app's server."""
        return await self._confirm("hassio_confirm", _QUESTIONS, user_input, {"app": self._app})

    async def _discovered(self, url: URL) -> ConfigFlowResult | None:
        """Ask the server at that address and remember it. Ends the flow where there is none to add."""
        try:
            server = await ask(self.hass, server_url(str(url)))
        except TunnihindError as error:
            return self.async_abort(reason=error.key, description_placeholders=error.translation_placeholders)
        entry = await self.async_set_unique_id(server.unique_id)
        if entry and await self._still_answers(entry):
            await self._wake(entry)
            return self.async_abort(reason="already_configured")
        # The entry's own update listener reloads it.
        self._abort_if_unique_id_configured(updates=server.data, reload_on_update=False)
        self._abort_if_address_is_taken(server)
        self._found = server
        name = server.name(self.hass.config.language)
        self.context["title_placeholders"] = {"name": name, "host": server.place}
        return await self.async_step_rehearsal() if server.is_rehearsal else None

    async def _confirm(
        self, step_id: str, questions: vol.Schema, user_input: dict[str, Any] | None, placeholders: dict[str, str]
    ) -> ConfigFlowResult:
        if user_input is not None:
            self._take_options(user_input)
            return await self._finish()
        self._set_confirm_only()
        return self.async_show_form(step_id=step_id, data_schema=questions, description_placeholders=placeholders)

    def _take_options(self, user_input: dict[str, Any] | None) -> None:
        """Note what the household has answered about its bill."""
        answers = user_input or {}
        self._answers |= {key: value for key, value in answers.items() if key == BILLED_BY}
        if answers.get(PACKAGE):
            self._package = Package(answers[PACKAGE])

    async def _server_at(self, user_input: dict[str, Any] | None) -> Server | None:
        """Return the server at the typed address. If there is none, the form shows what was tried and why it failed."""
        self._errors = {}
        if user_input is None:
            return None
        self._tried["url"] = user_input[CONF_URL]
        try:
            url = server_url(user_input[CONF_URL])
            self._tried["url"] = without_password(url)
            return await ask(self.hass, url)
        except ValueError:
            self._errors[CONF_URL] = "invalid_url"
        except TunnihindError as error:
            self._errors[CONF_URL] = error.key
            self._tried["reason"] = (error.translation_placeholders or {})["reason"]
        return None

    async def _still_answers(self, entry: ConfigEntry) -> bool:
        """Tell whether the entry's address still leads to its server. Then it keeps that address."""
        if entry.source == SOURCE_IGNORE:
            return False
        try:
            server = await ask(self.hass, entry.data[CONF_URL])
        except TunnihindError:
            return False
        return server.unique_id == entry.unique_id

    async def _wake(self, entry: TunnihindConfigEntry) -> None:
        """Let an entry that has lost its server ask it at once, without waiting for its next poll."""
        if entry.state is ConfigEntryState.SETUP_RETRY:
            self.hass.config_entries.async_schedule_reload(entry.entry_id)
        elif entry.state is ConfigEntryState.LOADED and not entry.runtime_data.last_update_success:
            await entry.runtime_data.async_request_refresh()

    def _address_form(self, step_id: str, schema: vol.Schema, suggested: dict[str, Any]) -> ConfigFlowResult:
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(schema, suggested),
            errors=self._errors,
            description_placeholders=self._tried,
        )

    def _abort_if_address_is_taken(self, server: Server, *, but: ConfigEntry | None = None) -> None:
        """End the flow where an entry of the same kind has that address; a live server and a rehearsal may share it."""
        for entry in self._async_current_entries(include_ignore=False):
            same_kind = entry.data.get(CONF_REHEARSAL, False) is server.is_rehearsal
            if entry is not but and same_kind and entry.data[CONF_URL] == server.url:
                raise AbortFlow("already_configured")

    async def _finish(self) -> ConfigFlowResult:
        """Show the figures of the package that was chosen, or be done."""
        return await self.async_step_tariff() if self._package else self._create()

    @property
    @override
    def _options(self) -> Mapping[str, Any]:
        return self._answers

    @override
    def _period(self) -> CurrentPeriod:
        """Return the current period as the server has told it."""
        now = self._found.answer.now if self._found.is_rehearsal else home_now()
        vat_rate = self._found.about.vat_rate if self._found.about else SPECIFICATION_VAT_RATE
        return CurrentPeriod.of(self._found.answer, now, billing_from(self._answers).billed_by, vat_rate)

    def _create(self) -> ConfigFlowResult:
        language = self.hass.config.language
        name = self._found.name(language)
        taken = {entry.title for entry in self._async_current_entries(include_ignore=False)}
        title = f"{name} ({self._found.place})" if name in taken else name
        return self.async_create_entry(
            title=title, data=self._found.data, options=self._answers, subentries=[first_plan(language)]
        )

    def _move(self) -> ConfigFlowResult:
        """Store the new address. A loaded entry reloads itself when its data changes; others are reloaded here."""
        entry, server = self._get_reconfigure_entry(), self._found
        if entry.state is ConfigEntryState.LOADED:
            return self.async_update_and_abort(entry, unique_id=server.unique_id, data_updates=server.data)
        return self.async_update_reload_and_abort(entry, unique_id=server.unique_id, data_updates=server.data)
