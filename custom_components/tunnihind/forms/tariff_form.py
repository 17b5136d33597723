"""A household's fees: the rows of fees in the options, and the form for one row.

If the rate table `prices/rates.json` has figures for the zone, the form for a household's first row shows these figures
at first. If all figures that a household saves for a part of the price equal the table's figures for the form's date,
the table's later figures for this part apply automatically. The options store fees in c/kWh.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, time
from typing import Any, Final

import voluptuous as vol
from homeassistant.helpers.selector import (
    BooleanSelector,
    DateSelector,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TimeSelector,
)

from ..choices import words
from ..core.market import ESTONIA, Market
from ..core.network_clock import MONTHS, WEEKDAYS
from ..core.rates import DatedRate, NetworkRates, Package, Part, RateTable, nearest_rate, rate_table_of
from ..prices.billing import NEGATIVE_IS_ZERO
from ..prices.tariff_options import (
    DAY_ENDS,
    DAY_MONTHS,
    DAY_STARTS,
    DAY_WEEKDAYS,
    DEFAULT_DAY_RATE,
    HOLIDAYS_AT_NIGHT_RATE,
    IN_WINTER_TIME,
)
from ..prices.units import Unit, figure_in_language
from .fields import NumberField, choice_field, foldable_section, number_field, price_field

ROWS: Final = "rows"
VALID_FROM: Final = "valid_from"
VAT_PERCENT: Final = "vat_percent"
PACKAGE: Final = "package"
FROM_TABLE: Final = "from_table"
COMPARED_ON: Final = "compared_on"
# The name of a row of fees that has no date.
_UNDATED_ROW: Final = "beginning"

SUPPLY: Final = "supply"
NETWORK: Final = "network"
LEVIES: Final = "levies"
FEES_INCLUDE_VAT: Final = "fees_include_vat"

type Row = Mapping[str, Any]
"""A row of fees in the entry's options."""
type _Field = NumberField | BooleanSelector | SelectSelector | TimeSelector

_PERCENT: Final = 100
# The form rounds figures of the rate table to this many decimals, because VAT adds decimals.
_DECIMALS: Final = 4
_MAX_CENTS: Final = 100
_VAT_FIELD: Final = number_field(0, 99, "%")
PACKAGE_CHOICE: Final = SelectSelector(
    SelectSelectorConfig(options=words(Package), translation_key=PACKAGE, mode=SelectSelectorMode.DROPDOWN)
)

# The names of the fees, by section of the form. Only some network packages have peak fees.
_SUPPLY_FEES: Final = ("margin", "balancing")
_NETWORK_FEES: Final = ("network_day", "network_night")
_PEAK_FEES: Final = ("network_peak", "network_rest_day_peak")
_LEVIES: Final = ("renewable", "security", "excise")
_FEES: Final = (*_SUPPLY_FEES, *_NETWORK_FEES, *_PEAK_FEES, *_LEVIES)

# The settings that apply to all rows of fees, by section of the form.
_SHARED_FIELDS: Final[Mapping[str, Mapping[str, _Field]]] = {
    SUPPLY: {FEES_INCLUDE_VAT: BooleanSelector()},
    NETWORK: {},
    LEVIES: {},
}
SHARED_DEFAULTS: Final[Mapping[str, Any]] = {FEES_INCLUDE_VAT: False}

# The settings of one row besides its figures, by section of the form. The form for a network package doesn't ask when
# the day rate applies, because the network operator has fixed the times.
_ROW_SETTINGS: Final[Mapping[str, Mapping[str, _Field]]] = {
    SUPPLY: {NEGATIVE_IS_ZERO: BooleanSelector()},
    NETWORK: {
        DAY_MONTHS: choice_field(map(str, MONTHS), "months", multiple=True),
        DAY_WEEKDAYS: choice_field(WEEKDAYS, "weekdays", multiple=True),
        DAY_STARTS: TimeSelector(),
        DAY_ENDS: TimeSelector(),
        HOLIDAYS_AT_NIGHT_RATE: BooleanSelector(),
        IN_WINTER_TIME: BooleanSelector(),
    },
    LEVIES: {},
}
_ROW_DEFAULTS: Final[Mapping[str, Any]] = {NEGATIVE_IS_ZERO: False, **DEFAULT_DAY_RATE}


def row_name(row: Row) -> str:
    """Return the name of a row: the date from which its fees apply. A row without a date is named "beginning"."""
    return row.get(VALID_FROM) or _UNDATED_ROW


def ordered_rows(rows: Iterable[Row]) -> list[Row]:
    """Return the rows in the order of their dates. A row without a date comes first."""
    return sorted(rows, key=lambda row: row.get(VALID_FROM) or "")


def find_row(rows: Iterable[Row], name: str | None) -> Row | None:
    """Return the row named `name`. If no row has this name, for example after its removal, return None."""
    return next((row for row in rows if row_name(row) == name), None)


def rows_without(rows: Iterable[Row], name: str) -> list[Row]:
    """Return all rows except the row named `name`."""
    return [row for row in rows if row_name(row) != name]


def shared_settings_of(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return only the settings in `figures` that apply to all rows of fees."""
    return {key: figures[key] for key in SHARED_DEFAULTS if key in figures}


def _merged_figures(user_input: Mapping[str, Any]) -> dict[str, Any]:
    """Merge all typed values of the form into one mapping without sections."""
    figures: dict[str, Any] = {}
    for key, value in user_input.items():
        figures |= value if key in _SHARED_FIELDS else {key: value}
    return figures


def day_rate_errors(figures: Mapping[str, Any]) -> dict[str, str]:
    """Return the form's error if the day rate would apply at no time."""
    settings = {**DEFAULT_DAY_RATE, **figures}
    starts, ends = (time.fromisoformat(settings[key]) for key in (DAY_STARTS, DAY_ENDS))
    applies = settings[DAY_MONTHS] and settings[DAY_WEEKDAYS] and starts != ends
    return {} if applies else {NETWORK: "no_day_rate"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowForm:
    """The form in which a household enters a row of fees for one package.

    The form uses the rate table's figures for the date `day`. `vat_percent` is the default VAT rate on `day`. If
    `needs_date` is true, the form requires a date. If `needs_date` is false, the date is optional. If `needs_date` is
    None, the form doesn't ask for a date. If `with_shared_settings` is true, the form also asks for settings that apply
    to all rows of fees.
    """

    day: date
    vat_percent: float
    zone: Market = ESTONIA
    package: Package = Package.OWN
    unit: Unit = Unit.CENTS
    needs_date: bool | None = False
    with_shared_settings: bool = True

    def with_package_of(self, figures: Mapping[str, Any]) -> RowForm:
        """Return this form for the network package in `figures`. If `figures` has none, the form keeps its package."""
        return replace(self, package=Package(figures.get(PACKAGE, self.package)))

    @property
    def rate_table(self) -> RateTable:
        """The rate table's figures for the form's zone."""
        return rate_table_of(self.zone)

    @property
    def schema(self) -> vol.Schema:
        """The form's fields."""
        fields: dict[vol.Marker, Any] = {}
        if self.needs_date is not None:
            fields[vol.Required(VALID_FROM) if self.needs_date else vol.Optional(VALID_FROM)] = DateSelector()
        if self.rate_table.packages:
            # The field is required, so that people can't clear it. It has a default, so that programs may omit it.
            fields[vol.Required(PACKAGE, default=self.package.value)] = PACKAGE_CHOICE
        for name, shared in self._shared_fields.items():
            figures: dict[vol.Marker, Any] = {vol.Optional(key): field for key, field in self._row_fields(name).items()}
            figures |= {
                vol.Required(key, default=_ROW_DEFAULTS[key]): field for key, field in self._row_settings(name).items()
            }
            figures |= {vol.Required(key): field for key, field in shared.items()}
            fields[vol.Required(name)] = foldable_section(figures, unfolded=True)
        return vol.Schema(fields)

    def _row_fields(self, name: str) -> Mapping[str, _Field]:
        lowest = {"margin": -_MAX_CENTS}  # The margin is negative if the supplier gives a discount.
        vat = {VAT_PERCENT: _VAT_FIELD} if name == SUPPLY else {}
        return vat | {key: price_field(self.unit, lowest.get(key, 0), _MAX_CENTS) for key in self._fee_names(name)}

    def _row_settings(self, name: str) -> Mapping[str, _Field]:
        return {} if name == NETWORK and self.package is not Package.OWN else _ROW_SETTINGS[name]

    @property
    def _shared_fields(self) -> Mapping[str, Mapping[str, _Field]]:
        return _SHARED_FIELDS if self.with_shared_settings else {name: {} for name in _SHARED_FIELDS}

    def _fee_names(self, name: str) -> tuple[str, ...]:
        has_peaks = self.package is not Package.OWN and self._network_rates.peak is not None
        return {
            SUPPLY: _SUPPLY_FEES,
            NETWORK: (*_NETWORK_FEES, *(_PEAK_FEES if has_peaks else ())),
            LEVIES: _LEVIES,
        }[name]

    def shown_values(self, figures: Mapping[str, Any]) -> dict[str, Any]:
        """Convert the fees in `figures` from c/kWh to the form's unit, and group the form's figures by section."""
        shown = {key: self.unit.from_cents(value) if key in _FEES else value for key, value in figures.items()}
        shown = {**_ROW_DEFAULTS, **shown}
        sections = {
            name: {
                key: shown[key]
                for key in (*self._row_fields(name), *self._row_settings(name), *self._shared_fields[name])
                if shown.get(key) is not None
            }
            for name in _SHARED_FIELDS
        }
        dated = {VALID_FROM: figures[VALID_FROM]} if figures.get(VALID_FROM) else {}
        return {**dated, PACKAGE: self.package.value, **sections}

    def figures_from_input(self, user_input: Mapping[str, Any]) -> dict[str, Any]:
        """Merge all typed values of the form into one mapping without sections, and convert the fees to c/kWh."""
        figures = _merged_figures(user_input)
        return {
            key: self.unit.to_cents(value) if key in _FEES and value is not None else value
            for key, value in figures.items()
        }

    def table_figures(self, *, fees_include_vat: bool) -> dict[str, float]:
        """Return the rate table's figures for `day` in c/kWh, with VAT if `fees_include_vat` is true.

        If the table has no rate for `day`, the nearest rate is used.
        """
        with_vat = 1 + self.vat_percent / _PERCENT if fees_include_vat else 1.0
        return {key: round(cents * with_vat, _DECIMALS) for key, cents in self._table_figures_without_vat.items()}

    def first_figures(self, row: Row | None, shared: Mapping[str, Any]) -> dict[str, Any]:
        """Return the figures that the form shows at first, with fees in c/kWh.

        If `row` is None, the fees come from the rate table. Otherwise, the fees come from `row`, except for the parts
        of the price that follow the rate table.
        """
        table = self.table_figures(fees_include_vat=shared.get(FEES_INCLUDE_VAT, False))
        if row is None:
            return {VAT_PERCENT: self.vat_percent, **shared, **table}
        return {VAT_PERCENT: self.vat_percent, **shared, **row, **self._figures_following_table(row, table)}

    def row_with_own_figures(self, row: Row, *, fees_include_vat: bool) -> Row:
        """Return the row with figures of its own for all parts, so that no part follows the rate table.

        The parts that followed the table get the table's figures for `day`.
        """
        followed = self._figures_following_table(row, self.table_figures(fees_include_vat=fees_include_vat))
        return {key: value for key, value in {**row, **followed}.items() if key != FROM_TABLE}

    def _figures_following_table(self, row: Row, table: Mapping[str, float]) -> dict[str, float]:
        return {key: table[key] for part in row.get(FROM_TABLE, ()) for key in self._fees_in_table(Part(part))}

    def adapted_figures(
        self, earlier_form: RowForm, figures: Mapping[str, Any], *, fees_include_vat: bool
    ) -> dict[str, Any]:
        """Adapt the figures from the form `earlier_form` to the package and the date of this form.

        If a part's figures equal the rate table's figures for `earlier_form` (with or without VAT), the table's figures
        for this form replace them. If the household has chosen another package with rates in the table, these rates
        replace all network fees. If the VAT rate is the default rate of `earlier_form`, the default rate of this form
        replaces it.
        """
        if self == earlier_form:
            return {**figures}
        tables = [earlier_form.table_figures(fees_include_vat=with_vat) for with_vat in (False, True)]
        now = self.table_figures(fees_include_vat=fees_include_vat)
        carried = {**figures}
        if figures.get(VAT_PERCENT) == earlier_form.vat_percent:
            carried[VAT_PERCENT] = self.vat_percent
        for part in Part:
            keys = self._fees_in_table(part)
            is_chosen = part is Part.NETWORK and self.package is not earlier_form.package
            if is_chosen or any(
                all(key in figures and figures[key] == then.get(key) for key in keys) for then in tables
            ):
                carried |= {key: now[key] for key in keys}
        return carried

    def row_from_figures(self, figures: Mapping[str, Any]) -> Row:
        """Return the row of fees that the options store for the entered `figures`.

        A blank fee becomes 0. A VAT rate or a setting that equals its default is left out. If a part's figures equal
        the rate table's figures for the form's date, the part follows the table. If the source of such a figure was
        last read more than a year before the form's date, `compared_on` is the form's date.
        """
        asked = [key for name in _SHARED_FIELDS for key in self._fee_names(name)]
        row: dict[str, Any] = {fee: float(figures.get(fee) or 0) for fee in asked}
        settings = {key: figures[key] for name in _ROW_SETTINGS for key in self._row_settings(name) if key in figures}
        row |= {key: value for key, value in settings.items() if value != _ROW_DEFAULTS[key]}
        if self.package is not Package.OWN:
            row[PACKAGE] = self.package.value
        if followed := [part for part in Part if self._follows_table(part, row)]:
            row[FROM_TABLE] = [part.value for part in followed]
        if any(self._dated_rate(part).is_old_on(self.day) for part in followed):
            row[COMPARED_ON] = self.day.isoformat()
        vat_percent = figures.get(VAT_PERCENT)
        if vat_percent is not None and vat_percent != self.vat_percent:
            row[VAT_PERCENT] = vat_percent
        if figures.get(VALID_FROM):
            row[VALID_FROM] = figures[VALID_FROM]
        return row

    def _follows_table(self, part: Part, row: Row) -> bool:
        """Return whether the figures for `part` equal the rate table's figures for the form's date.

        The rate table's figures may be with or without VAT.

        If the table has no figure for this date, return False, even if the form shows the table's figure for another
        date.
        """
        keys = self._fees_in_table(part)
        if not keys or not self._dated_rate(part).applies_on(self.day):
            return False
        tables = [self.table_figures(fees_include_vat=with_vat) for with_vat in (False, True)]
        return any(all(round(row[key], _DECIMALS) == table[key] for key in keys) for table in tables)

    def _dated_rate(self, part: Part) -> DatedRate[NetworkRates] | DatedRate[float]:
        if part is Part.NETWORK:
            return nearest_rate(self.rate_table.packages[self.package], self.day)
        return nearest_rate(self.rate_table.fees[part], self.day)

    def _fees_in_table(self, part: Part) -> tuple[str, ...]:
        """Return the names of the fees of `part` for which the rate table has figures."""
        if part is Part.NETWORK:
            return self._fee_names(NETWORK) if self.package is not Package.OWN else ()
        return (part.value,) if part in self.rate_table.fees else ()

    @property
    def _table_figures_without_vat(self) -> dict[str, float]:
        fees = {part.value: nearest_rate(entries, self.day).rate for part, entries in self.rate_table.fees.items()}
        if self.package is Package.OWN:
            return fees
        rates = self._network_rates
        network = {
            "network_day": rates.day,
            "network_night": rates.night,
            "network_peak": rates.peak,
            "network_rest_day_peak": rates.rest_day_peak,
        }
        return fees | {key: rate for key, rate in network.items() if rate is not None}

    @property
    def _network_rates(self) -> NetworkRates:
        return nearest_rate(self.rate_table.packages[self.package], self.day).rate

    def placeholders(self, language: str) -> dict[str, str]:
        """Return the values of the placeholders in the form's texts, in the given language.

        If the rate table has no rates for the zone, return only the default VAT rate.
        """
        default_vat = {"default_vat": figure_in_language(f"{self.vat_percent:g}", language)}
        if not self.rate_table.fees:
            return default_vat
        excise = self.rate_table.fees[Part.EXCISE][-1]
        return {
            **default_vat,
            "as_of": f"{excise.source_read_on:%d.%m.%Y}",
            "excise": figure_in_language(f"{self.unit.from_cents(excise.rate):g}", language),
            "excise_disputed": figure_in_language(
                f"{self.unit.from_cents(excise.rate_of_other_source or excise.rate):g}", language
            ),
        }
