"""The accounts of all plans of one config entry, and the settled prices that these accounts need."""

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, Final, Self

from ..core.market import HOUR_S, Market
from ..plans.outcome import Outcome
from ..plans.settings import PlanSettings
from ..plans.solver import Piece
from ..prices.timeline import Timeline
from ..storage import read_field, read_plan_values
from .account import ACCOUNT_DECODER, ACCOUNT_ENCODER, Account
from .settled_prices import SettledPrices

# Prices are kept for at least 4 days, because a window's cost is compared with the cost of an immediate start. The
# immediate start may lie up to 3 days before the window's end.
_PRICES_KEPT_S: Final = 4 * 24 * HOUR_S


class Ledger:
    """The energy, costs and savings of all plans' windows, and the settled `prices` that they need."""

    def __init__(
        self, zone: Market, accounts: Mapping[str, Account] | None = None, prices: SettledPrices | None = None
    ) -> None:
        self._accounts: dict[str, Account] = dict(accounts or {})
        self.prices = prices or SettledPrices(zone)

    def account(self, plan: str) -> Account | None:
        """Return the account of a plan, or None if the plan has no account."""
        return self._accounts.get(plan)

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
        needed = [
            since for one in self._accounts.values() if (since := one.prices_needed_since(self.prices)) is not None
        ]
        self.prices.forget_before(min([now - _PRICES_KEPT_S, *needed]))

    def keep_only_plans(self, plans: Collection[str]) -> None:
        """Forget the accounts of all plans that are not in `plans`."""
        self._accounts = {plan: account for plan, account in self._accounts.items() if plan in plans}

    def forget_all(self) -> None:
        """Forget all accounts and all prices."""
        self._accounts = {}
        self.forget_prices()

    def forget_prices(self) -> None:
        """Forget all prices, so that the prices of past windows are fetched from the present server."""
        self.prices = SettledPrices(self.prices.zone)

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
        """Return the starts of all hours before `now` (UTC seconds) for which finished windows lack a price."""
        return sorted(
            {hour for account in self._accounts.values() for hour in account.hours_without_price(self.prices, now)}
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the ledger in a form that JSON can store."""
        return {
            "prices": self.prices.as_dict(),
            "plans": {plan: ACCOUNT_ENCODER.encode(account) for plan, account in self._accounts.items()},
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any], zone: Market) -> Self:
        """Rebuild a ledger from the result of `as_dict`.

        Accounts that can't be read are left out. If the prices can't be read, the ledger starts without prices.
        """
        accounts = read_plan_values(kept, "plans", ACCOUNT_DECODER.decode)
        return cls(zone, accounts, read_field(kept, "prices", partial(SettledPrices.from_dict, zone=zone)))
