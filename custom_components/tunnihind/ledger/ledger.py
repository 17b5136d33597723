"""The accounts of all plans and batteries of one config entry, and the settled prices that these accounts need."""

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any, Final, Self

from ..battery.settings import BatterySettings
from ..core.market import HOUR_S, Market
from ..plans.outcome import Outcome
from ..plans.settings import MAX_DAYS, PlanSettings
from ..plans.solver import Piece
from ..prices.timeline import Timeline
from ..storage import read_field, read_plan_values
from .account import ACCOUNT_DECODER, ACCOUNT_ENCODER, Account
from .battery_account import BATTERY_ACCOUNT_DECODER, BATTERY_ACCOUNT_ENCODER, BatteryAccount
from .settled_prices import SettledPrices

_USUAL_DAYS: Final = 7
# A window's cost is compared with the cost of an immediate start, up to `MAX_DAYS` days before the window's end.
_PRICES_KEPT_S: Final = (MAX_DAYS + 1) * 24 * HOUR_S


class Ledger:
    """The energy, costs and savings of all plans' windows and all batteries, and the settled prices that they need.

    `prices` are those at which the household buys. `selling_prices` is None if it sells nothing. The keys of
    `battery_accounts` are the ids of batteries.
    """

    def __init__(
        self,
        zone: Market,
        accounts: Mapping[str, Account] | None = None,
        prices: SettledPrices | None = None,
        battery_accounts: Mapping[str, BatteryAccount] | None = None,
        selling_prices: SettledPrices | None = None,
    ) -> None:
        self._accounts: dict[str, Account] = dict(accounts or {})
        self.prices = prices or SettledPrices(zone)
        self.battery_accounts: dict[str, BatteryAccount] = dict(battery_accounts or {})
        self.selling_prices = selling_prices

    def account(self, plan: str) -> Account | None:
        """Return the account of a plan, or None if the plan has no account."""
        return self._accounts.get(plan)

    def usual_price(self, timeline: Timeline, now: int) -> float | None:
        """Return the median of the buying prices of the seven days before `now`, in EUR/kWh, as far as they are known.

        `now` is in UTC seconds. The settled prices of `timeline` are added to the ledger. None means that no price of
        these days is known.
        """
        self.prices.add_timeline(timeline)
        return self.prices.median(now - _USUAL_DAYS * 24 * HOUR_S, now)

    def update(
        self, settings: Mapping[str, PlanSettings], outcomes: Mapping[str, Outcome], timeline: Timeline, now: int
    ) -> None:
        """Update the accounts of the plans in `outcomes` as of `now` (UTC seconds).

        A plan without an account gets one. The settled prices of `timeline` are added to the ledger.
        """
        self.prices.add_timeline(timeline)
        for plan, outcome in outcomes.items():
            account = self._accounts.setdefault(plan, Account(now))
            account.update(settings[plan], outcome, timeline, self.prices, now)
        needed = [one.prices_needed_since(self.prices) for one in self._accounts.values()]
        self._forget_prices_before(self.prices, now, needed)

    def update_batteries(
        self,
        settings: Mapping[str, BatterySettings],
        switched_on: Collection[str],
        buying: Timeline,
        selling: Timeline | None,
        now: int,
    ) -> None:
        """Update the accounts of the batteries in `settings` as of `now` (UTC seconds), after `update`.

        A battery without an account gets one. `switched_on` has the batteries whose plan is on. The settled prices of
        `selling` are added to the ledger; it is None if the household sells nothing.
        """
        if selling is None:
            self.selling_prices = None
        else:
            self.selling_prices = self.selling_prices or SettledPrices(self.prices.zone)
            self.selling_prices.add_timeline(selling)
        for battery, one in settings.items():
            account = self.battery_accounts.setdefault(battery, BatteryAccount(now))
            account.update(
                now,
                is_on=battery in switched_on,
                wear=one.battery.wear,
                step_s=min(line.step_s for line in (buying, selling) if line),
                buying=self.prices,
                selling=self.selling_prices,
            )
        if self.selling_prices:
            self._forget_prices_before(self.selling_prices, now)

    def _forget_prices_before(self, prices: SettledPrices, now: int, needed: Iterable[int | None] = ()) -> None:
        by_batteries = (one.prices_needed_since for one in self.battery_accounts.values())
        known = (since for since in (*needed, *by_batteries) if since is not None)
        prices.forget_before(min([now - _PRICES_KEPT_S, *known]))

    def keep_only(self, subentries: Collection[str]) -> None:
        """Forget the accounts of all plans and batteries that are not in `subentries`."""
        self._accounts = {plan: account for plan, account in self._accounts.items() if plan in subentries}
        self.battery_accounts = {id_: one for id_, one in self.battery_accounts.items() if id_ in subentries}

    def forget_all(self) -> None:
        """Forget all accounts and all prices."""
        self._accounts, self.battery_accounts = {}, {}
        self.forget_prices()

    def forget_prices(self) -> None:
        """Forget all prices, so that the prices of past windows are fetched from the present server."""
        self.prices, self.selling_prices = SettledPrices(self.prices.zone), None

    def slices_to_read(self, now: int) -> dict[str, list[Piece]]:
        """Return the slices whose energy has to be read at `now` (UTC seconds), keyed by the meter's id."""
        to_read: dict[str, list[Piece]] = {}
        for account in self._accounts.values():
            for meter, slices in account.slices_to_read(now).items():
                to_read.setdefault(meter, []).extend(slices)
        return to_read

    def update_readings(self, meter: str, readings: Mapping[Piece, float | None]) -> bool:
        """Set the kWh that `meter` measured in slices, and return whether this changes anything.

        None means that the energy of a slice is unknown.
        """
        changes = [account.update_readings(meter, readings) for account in self._accounts.values()]
        return any(changes)

    def hours_without_price(self, now: int) -> list[int]:
        """Return the starts of all hours before `now` (UTC seconds) whose buying price the accounts lack."""
        by_plans = (account.hours_without_price(self.prices, now) for account in self._accounts.values())
        by_batteries = (account.hours_without_price(self.prices) for account in self.battery_accounts.values())
        return sorted(set().union(*by_plans, *by_batteries))

    def hours_without_selling_price(self) -> list[int]:
        """Return the starts of all hours whose selling price the accounts of batteries lack."""
        prices = self.selling_prices
        if prices is None:
            return []
        return sorted(set().union(*(one.hours_without_price(prices) for one in self.battery_accounts.values())))

    def as_dict(self) -> dict[str, Any]:
        """Return the ledger in a form that JSON can store."""
        return {
            "prices": self.prices.as_dict(),
            "selling_prices": self.selling_prices.as_dict() if self.selling_prices else {},
            "plans": {plan: ACCOUNT_ENCODER.encode(account) for plan, account in self._accounts.items()},
            "batteries": {id_: BATTERY_ACCOUNT_ENCODER.encode(one) for id_, one in self.battery_accounts.items()},
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any], zone: Market) -> Self:
        """Rebuild a ledger from the result of `as_dict`.

        Accounts that can't be read are left out. If the prices can't be read, the ledger starts without prices.
        """
        read_prices = partial(SettledPrices.from_dict, zone=zone)
        return cls(
            zone,
            read_plan_values(kept, "plans", ACCOUNT_DECODER.decode),
            read_field(kept, "prices", read_prices),
            read_plan_values(kept, "batteries", BATTERY_ACCOUNT_DECODER.decode),
            read_field(kept, "selling_prices", read_prices),
        )
