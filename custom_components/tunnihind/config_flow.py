"""Adds a zone of a server to Home Assistant. A user types the server's address, or Home Assistant finds the server."""

from collections.abc import Iterable, Mapping, Sequence
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
from homeassistant.helpers.selector import (
    SelectOptionDict,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TextSelector,
    TextSelectorConfig,
    TextSelectorType,
)
from homeassistant.helpers.service_info.hassio import HassioServiceInfo
from homeassistant.helpers.service_info.zeroconf import ZeroconfServiceInfo
from yarl import URL

from .client.clock import home_assistant_now
from .client.requests import Server, fetch_server, server_url, server_with_quarters, url_without_password
from .const import CONF_INSTANCE_ID, CONF_REHEARSAL, DOMAIN, SUBENTRY_BATTERY, SUBENTRY_PLAN
from .coordinator import TunnihindConfigEntry
from .core.market import MARKET_OF_CODE, MARKETS, Market
from .core.rates import Package, rate_table_of
from .errors import OtherZone, ServerIsNotRehearsal, ServerIsRehearsal, TunnihindError
from .forms.battery_flow import BatteryFlow
from .forms.options_flow import BILLING_QUESTION, TunnihindOptionsFlow
from .forms.plan_flow import PlanFlow, first_plan
from .forms.reader import language_of_reader
from .forms.tariff_form import PACKAGE, PACKAGE_CHOICE
from .forms.tariff_step import BillingPeriodNow, TariffFlow
from .prices.billing import BILLED_BY, Resolution, billing_from
from .prices.zones import CONF_ZONE, country_name, zone_of

_EXAMPLE_URL: Final = "http://192.168.1.10:8080"
# The address of a server that runs on Home Assistant's own computer and uses the default port.
_LOCAL_URL: Final = "http://localhost:8080"

_ADDRESS_QUESTION: Final = vol.Schema(
    {vol.Required(CONF_URL): TextSelector(TextSelectorConfig(type=TextSelectorType.URL))}
)
# The question about the network package. If the household chooses no package, the entry shows market prices with VAT
# until the household enters fees.
_PACKAGE_QUESTION: Final = vol.Schema({vol.Optional(PACKAGE): PACKAGE_CHOICE})
_NO_QUESTION: Final = vol.Schema({})


class TunnihindConfigFlow(TariffFlow, ConfigFlow, domain=DOMAIN):
    """Adds a zone of a server as a config entry, or changes the server's address in an existing entry."""

    _server: Server
    _app_name: str

    def __init__(self) -> None:
        self._errors: dict[str, str] = {}
        self._text_placeholders = {"example": _EXAMPLE_URL, "url": "", "reason": "", "zone": ""}
        self._answers: dict[str, Any] = {}
        self._package: Package | None = None

    @staticmethod
    @callback
    @override
    def async_get_options_flow(config_entry: ConfigEntry) -> OptionsFlow:
        return TunnihindOptionsFlow()

    @classmethod
    @callback
    @override
    def async_get_supported_subentry_types(cls, config_entry: ConfigEntry) -> dict[str, type[ConfigSubentryFlow]]:
        """Return the flows that add and change plans and batteries."""
        return {SUBENTRY_PLAN: PlanFlow, SUBENTRY_BATTERY: BatteryFlow}

    @override
    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for the address of a server, ask the `_bill_questions`, and check that the server answers."""
        server = await self._server_from_input(user_input)
        if server is None:
            schema = _ADDRESS_QUESTION.extend(self._bill_questions(self._zones_by_likelihood(MARKETS.values())).schema)
            return self._address_form("user", schema, user_input or {CONF_URL: _LOCAL_URL})
        self._keep_answers(user_input)
        self._server = server
        return await self._continue_with_server()

    async def _continue_with_server(self) -> ConfigFlowResult:
        return await self.async_step_zone() if self._server.needs_zone_choice else await self._add_found_server()

    async def async_step_zone(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for the price zone to add, and check that the server has the prices of this zone."""
        server, self._errors = self._server, {}
        offered = self._addable_zones(server)
        if not offered:
            return self.async_abort(reason="already_configured")
        language = await language_of_reader(self.hass)
        if user_input is not None:
            zone = MARKET_OF_CODE[user_input[CONF_ZONE].upper()]
            try:
                found = await fetch_server(self.hass, server.addresses[zone])
            except TunnihindError as error:
                self._errors[CONF_ZONE] = error.key
                self._text_placeholders |= error.translation_placeholders or {}
            else:
                if found.zone is zone:
                    self._server = found
                    return await self._add_found_server()
                self._set_zone_error(CONF_ZONE, found, zone, language)
        listed = [SelectOptionDict(value=zone.zone, label=country_name(zone, language)) for zone in offered]
        zones = SelectSelector(SelectSelectorConfig(options=listed, mode=SelectSelectorMode.LIST))
        likely = self._zones_by_likelihood(offered)[0].zone
        return self.async_show_form(
            step_id="zone",
            data_schema=vol.Schema({vol.Required(CONF_ZONE, default=likely): zones}),
            errors=self._errors,
            description_placeholders={**self._text_placeholders, "server": url_without_password(server.url)},
        )

    def _set_zone_error(self, field: str, server: Server, wanted: Market, language: str) -> None:
        """Set the form's error: the server doesn't have the prices of the zone `wanted`."""
        self._errors[field] = OtherZone.key
        self._text_placeholders |= {
            "url": url_without_password(server.url),
            "zone": country_name(wanted, language),
            "reason": country_name(server.zone, language),
        }

    async def _add_found_server(self) -> ConfigFlowResult:
        await self.async_set_unique_id(self._server.unique_id, raise_on_progress=False)
        if self._server.zone not in self._addable_zones(self._server):
            return self.async_abort(reason="already_configured")
        return await self.async_step_rehearsal() if self._server.is_rehearsal else await self._ask_fees_or_create()

    async def async_step_rehearsal(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Explain rehearsals before a rehearsal is added.

        If a household added a rehearsal by mistake, the household's automations would switch real devices according to
        the prices of a past day.
        """
        if user_input is not None:
            return await self._ask_fees_or_create()
        return self._confirm_form("rehearsal", _NO_QUESTION, {"url": url_without_password(self._server.url)})

    async def async_step_tariff(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Show the fees of the household's network package, and ask the household to confirm and complete them."""
        if user_input is None:
            if billing_from(self._answers).billed_by is Resolution.QUARTER:
                self._server = await server_with_quarters(self.hass, self._server)
            return await self._start_form("tariff", None, needs_date=None, package=self._package)
        answers, form = self._read_form("tariff", user_input)
        self._answers |= answers
        return form or self._create_entry()

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for a new address, and check that a server with the entry's zone answers there.

        The server must be a rehearsal if the entry is for a rehearsal, and must not be one otherwise.
        """
        entry = self._get_reconfigure_entry()
        server = await self._server_from_input(user_input)
        if server is not None and server.is_rehearsal is not entry.data.get(CONF_REHEARSAL, False):
            self._errors[CONF_URL] = (ServerIsRehearsal if server.is_rehearsal else ServerIsNotRehearsal).key
        elif server is not None and server.zone is not zone_of(entry.data):
            self._set_zone_error(CONF_URL, server, zone_of(entry.data), await language_of_reader(self.hass))
        if server is None or self._errors:
            return self._address_form("reconfigure", _ADDRESS_QUESTION, user_input or dict(entry.data))
        holder = await self.async_set_unique_id(server.unique_id, raise_on_progress=False)
        if holder not in {None, entry}:
            return self.async_abort(reason="already_configured")
        if any(
            other is not entry and other.data[CONF_URL] == server.url for other in self._entries_of_same_kind(server)
        ):
            return self.async_abort(reason="already_configured")
        self._server = server
        if entry.data[CONF_INSTANCE_ID] in {None, server.instance_id}:
            return self._store_server()
        return await self.async_step_replace()

    async def async_step_replace(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask whether the server at the new address should replace the present server.

        A server that was installed again counts as another server, because it has a new id.
        """
        if user_input is not None:
            return self._store_server()
        return self.async_show_form(step_id="replace", description_placeholders={"url": self._text_placeholders["url"]})

    @override
    async def async_step_zeroconf(self, discovery_info: ZeroconfServiceInfo) -> ConfigFlowResult:
        """Offer to add a server that has announced itself on the network, or correct the address of a known server."""
        prefix = discovery_info.properties.get("path") or ""
        url = URL.build(scheme="http", host=discovery_info.host, port=discovery_info.port, path=prefix)
        return await self._handle_discovery(url) or await self.async_step_zeroconf_confirm()

    async def async_step_zeroconf_confirm(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask whether to add the server that was found on the network."""
        name = self._server.name(self.hass.config.language)
        return await self._ask_to_add("zeroconf_confirm", user_input, {"name": name, "url": self._server.url})

    @override
    async def async_step_hassio(self, discovery_info: HassioServiceInfo) -> ConfigFlowResult:
        """Offer to add the server that runs as a Home Assistant app, or correct the address of a known server."""
        url = URL.build(scheme="http", host=discovery_info.config["host"], port=discovery_info.config["port"])
        self._app_name = discovery_info.name
        return await self._handle_discovery(url) or await self.async_step_hassio_confirm()

    async def async_step_hassio_confirm(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask whether to add the server that runs as an app."""
        return await self._ask_to_add("hassio_confirm", user_input, {"app": self._app_name})

    async def _handle_discovery(self, url: URL) -> ConfigFlowResult | None:
        """Request the prices of a discovered server. If the caller has to show its form next, return None.

        If an entry already has a zone of the server, but the entry's address no longer works, the entry gets the zone's
        address on the discovered server. If the request fails, or none of the server's zones can be added, the flow
        ends. If the user has ignored one zone of the server, no zone of the server is offered again.
        """
        try:
            server = await fetch_server(self.hass, server_url(str(url)))
        except TunnihindError as error:
            return self.async_abort(reason=error.key, description_placeholders=error.translation_placeholders)
        zones = {server.unique_id_of(zone): zone for zone in server.addresses}
        to_add = self._addable_zones(server)
        await self.async_set_unique_id(server.unique_id_of(to_add[0]) if to_add else server.unique_id)
        known = [entry for entry in self._async_current_entries(include_ignore=True) if entry.unique_id in zones]
        for entry in known:
            if entry.source != SOURCE_IGNORE:
                await self._update_address(entry, server.addresses[zones[entry.unique_id or ""]])
        if not to_add or any(entry.source == SOURCE_IGNORE for entry in known):
            return self.async_abort(reason="already_configured")
        self._server = server
        name = server.name(self.hass.config.language)
        self.context["title_placeholders"] = {"name": name, "host": server.host_and_path}
        return await self._continue_with_server() if server.is_rehearsal else None

    async def _update_address(self, entry: TunnihindConfigEntry, url: str) -> None:
        """If the entry's address no longer works, replace it with `url`. Else, poll now if the last poll failed."""
        try:
            works = (await fetch_server(self.hass, entry.data[CONF_URL])).unique_id == entry.unique_id
        except TunnihindError:
            works = False
        if not works:  # a loaded entry reloads itself if its address changes
            self.hass.config_entries.async_update_entry(entry, data={**entry.data, CONF_URL: url})
        if entry.state is ConfigEntryState.SETUP_RETRY:
            self.hass.config_entries.async_schedule_reload(entry.entry_id)
        elif works and entry.state is ConfigEntryState.LOADED and not entry.runtime_data.last_update_success:
            await entry.runtime_data.async_request_refresh()

    def _addable_zones(self, server: Server) -> list[Market]:
        """Return the zones of the server that can be added.

        A zone can be added if no entry has the zone's id, and no entry in `_entries_of_same_kind` has the zone's
        address.
        """
        ids = {entry.unique_id for entry in self._async_current_entries(include_ignore=False)}
        urls = {entry.data[CONF_URL] for entry in self._entries_of_same_kind(server)}
        return [
            zone for zone, url in server.addresses.items() if server.unique_id_of(zone) not in ids and url not in urls
        ]

    def _entries_of_same_kind(self, server: Server) -> list[ConfigEntry]:
        """Return all rehearsals if `server` is a rehearsal, else all other entries.

        Another server may later run at the address of a rehearsal, so an entry of each kind may have this address.
        """
        entries = self._async_current_entries(include_ignore=False)
        return [entry for entry in entries if entry.data.get(CONF_REHEARSAL, False) is server.is_rehearsal]

    def _zones_by_likelihood(self, zones: Iterable[Market]) -> list[Market]:
        """Return `zones`, with the zone of Home Assistant's country first."""
        return sorted(zones, key=lambda zone: zone.country != self.hass.config.country)

    def _bill_questions(self, zones: Sequence[Market]) -> vol.Schema:
        """Return the questions about the bill, and about the network package if the first of `zones` has packages."""
        has_packages = bool(rate_table_of(zones[0]).packages)
        return BILLING_QUESTION.extend(_PACKAGE_QUESTION.schema) if has_packages else BILLING_QUESTION

    async def _ask_to_add(
        self, step_id: str, user_input: dict[str, Any] | None, placeholders: dict[str, str]
    ) -> ConfigFlowResult:
        """Ask whether to add the server that was found, and ask the `_bill_questions`."""
        if user_input is not None:
            self._keep_answers(user_input)
            return await self._continue_with_server()
        questions = self._bill_questions(
            self._zones_by_likelihood(self._addable_zones(self._server) or [self._server.zone])
        )
        return self._confirm_form(step_id, questions, placeholders)

    def _confirm_form(self, step_id: str, questions: vol.Schema, placeholders: dict[str, str]) -> ConfigFlowResult:
        self._set_confirm_only()
        return self.async_show_form(step_id=step_id, data_schema=questions, description_placeholders=placeholders)

    def _keep_answers(self, user_input: dict[str, Any] | None) -> None:
        """Keep the answers about the household's bill and network package until the entry is created."""
        answers = user_input or {}
        self._answers |= {key: value for key, value in answers.items() if key == BILLED_BY}
        if answers.get(PACKAGE):
            self._package = Package(answers[PACKAGE])

    async def _server_from_input(self, user_input: dict[str, Any] | None) -> Server | None:
        """Return the server at the entered address, or None if no address was entered or no server was found.

        If no server was found, keep the error for the form.
        """
        self._errors = {}
        if user_input is None:
            return None
        self._text_placeholders["url"] = user_input[CONF_URL]
        try:
            url = server_url(user_input[CONF_URL])
            self._text_placeholders["url"] = url_without_password(url)
            return await fetch_server(self.hass, url)
        except ValueError:
            self._errors[CONF_URL] = "invalid_url"
        except TunnihindError as error:
            self._errors[CONF_URL] = error.key
            self._text_placeholders["reason"] = (error.translation_placeholders or {})["reason"]
        return None

    def _address_form(self, step_id: str, schema: vol.Schema, suggested: dict[str, Any]) -> ConfigFlowResult:
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(schema, suggested),
            errors=self._errors,
            description_placeholders=self._text_placeholders,
        )

    async def _ask_fees_or_create(self) -> ConfigFlowResult:
        has_packages = bool(rate_table_of(self._server.zone).packages)
        return await self.async_step_tariff() if self._package and has_packages else self._create_entry()

    @property
    @override
    def _options(self) -> Mapping[str, Any]:
        return self._answers

    @override
    def _billing_period_now(self) -> BillingPeriodNow:
        now = self._server.answer.now if self._server.is_rehearsal else home_assistant_now()
        chosen = self._server.about.chosen_vat_rate if self._server.about else None
        billed_by = billing_from(self._answers).billed_by
        return BillingPeriodNow.of(self._server.answer, now, billed_by, self._server.zone, chosen)

    def _create_entry(self) -> ConfigFlowResult:
        language = self.hass.config.language
        name = self._server.name(language)
        taken = {entry.title for entry in self._async_current_entries(include_ignore=False)}
        title = f"{name} ({self._server.host_and_path})" if name in taken else name
        return self.async_create_entry(
            title=title,
            data=self._server.entry_data,
            options=self._answers,
            subentries=[first_plan(language, self._server.zone)],
        )

    def _store_server(self) -> ConfigFlowResult:
        """Store the server and its address in the entry. A loaded entry reloads itself if one of them changes."""
        entry, server = self._get_reconfigure_entry(), self._server
        if entry.state is ConfigEntryState.LOADED:
            return self.async_update_and_abort(entry, unique_id=server.unique_id, data_updates=server.entry_data)
        return self.async_update_reload_and_abort(entry, unique_id=server.unique_id, data_updates=server.entry_data)
