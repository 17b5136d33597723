"""One task at a time looks for missing data of past windows."""

import asyncio
from collections.abc import Sequence
from datetime import date

from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.tunnihind.client.clock import EntryClock
from custom_components.tunnihind.const import DOMAIN
from custom_components.tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S
from custom_components.tunnihind.core.tariff import Tariff
from custom_components.tunnihind.ledger.completion import LedgerCompleter
from custom_components.tunnihind.ledger.ledger import Ledger
from custom_components.tunnihind.past.history import MarketHistory
from custom_components.tunnihind.past.paid_prices import PaidPriceCalculator
from tests.support.household.timelines import NIGHT


class WaitingLedger(Ledger):
    """A ledger that waits for a price."""

    def hours_without_price(self, now: int) -> list[int]:
        return [NIGHT]


async def test_while_one_look_waits_for_the_server_no_other_begins(hass: HomeAssistant) -> None:
    entry = MockConfigEntry(domain=DOMAIN)
    entry.add_to_hass(hass)
    asked: list[date] = []
    come = asyncio.Event()

    async def fetch_month(month: date) -> dict[int, float]:
        asked.append(month)
        await come.wait()
        return {}

    paid = PaidPriceCalculator(step_s=HOUR_S, history=MarketHistory(fetch_month, ESTONIA), tariff=Tariff())
    ledger = WaitingLedger(ESTONIA)
    clock = EntryClock(is_rehearsal=False)

    async def no_selling_prices(_: Sequence[int]) -> dict[int, tuple[float, ...]]:
        return {}

    completer = LedgerCompleter(hass, entry, clock, lambda: ledger, lambda: paid, no_selling_prices, dict, lambda: None)
    for now in range(NIGHT + HOUR_S, NIGHT + 4 * HOUR_S, QUARTER_S):
        completer.async_look_for_missing_data(now)
        await asyncio.sleep(0)
    assert len(asked) == 1
    come.set()
    await hass.async_block_till_done(wait_background_tasks=True)
    completer.async_look_for_missing_data(NIGHT + 5 * HOUR_S)
    await hass.async_block_till_done(wait_background_tasks=True)
    assert len(asked) == 2
