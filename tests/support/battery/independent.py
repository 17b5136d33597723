"""The cheapest course of a battery as a mixed-integer linear program, for an independent solver."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_array, csr_array, diags_array, eye_array, tril

from custom_components.tunnihind.battery.battery import Battery, Steps, Target

LACKING = 100.0
"""What a kWh that a target lacks costs here, in EUR."""


def least_cost(
    battery: Battery,
    steps: Steps,
    stored_kwh: float,
    *,
    end_worth: float,
    targets: Sequence[Target] = (),
    gap: float = 1e-9,
) -> float:
    """Return the cost of the cheapest course by HiGHS, with what targets lack at LACKING. `gap` is relative.

    The unknowns are, for each step, the power in kW to charge, to discharge, to buy and to sell, and whether the
    battery charges and whether the home buys; then what each target lacks, in kWh.
    """
    count = len(steps.starts)
    hours = np.diff(steps.starts, append=steps.end) / 3600
    one_way = sqrt(battery.efficiency)
    one, none, lacks = eye_array(count), csr_array((count, count)), csr_array((count, len(targets)))
    use = steps.use_kw
    most_charge = battery.charge_kw if battery.charges_from_grid else np.minimum(battery.charge_kw, np.maximum(-use, 0))
    most_discharge = battery.discharge_kw if battery.sells else np.minimum(battery.discharge_kw, np.maximum(use, 0))
    most_charge, most_discharge = np.broadcast_to(most_charge, count), np.broadcast_to(most_discharge, count)
    most_bought, most_sold = np.maximum(use + most_charge, 0), np.maximum(most_discharge - use, 0)
    sums = tril(np.ones((count, count)))
    charged, discharged = sums @ diags_array(hours * one_way), sums @ diags_array(hours / one_way)
    balance = block_array([[-one, one, one, -one, none, none, lacks]])
    stored = block_array([[charged, -discharged, none, none, none, none, lacks]])
    modes = block_array(
        [
            [one, none, none, none, diags_array(-most_charge), none, lacks],
            [none, one, none, none, diags_array(most_discharge), none, lacks],
            [none, none, one, none, none, diags_array(-most_bought), lacks],
            [none, none, none, one, none, diags_array(most_sold), lacks],
        ]
    )
    most = np.concatenate([np.zeros(count), most_discharge, np.zeros(count), most_sold])
    constraints = [
        LinearConstraint(balance, use, use),
        LinearConstraint(stored, battery.lowest_kwh - stored_kwh, battery.highest_kwh - stored_kwh),
        LinearConstraint(modes, -np.inf, most),
    ]
    ends = [*steps.starts[1:].tolist(), steps.end]
    for number, target in enumerate(targets):
        row = stored.tocsr()[[ends.index(target.at)]].tolil()
        row[0, 6 * count + number] = 1
        constraints.append(LinearConstraint(row.tocsr(), target.stored_kwh - stored_kwh, np.inf))
    change = np.concatenate([hours * one_way, -hours / one_way])
    cost = np.concatenate(
        [
            -end_worth * change[:count],
            battery.wear * hours - end_worth * change[count:],
            steps.buying * hours,
            -steps.selling * hours,
            np.zeros(2 * count),
            np.full(len(targets), LACKING),
        ]
    )
    unbounded = np.full(len(targets), np.inf)
    upper = np.concatenate([most_charge, most_discharge, most_bought, most_sold, np.ones(2 * count), unbounded])
    whole = np.concatenate([np.zeros(4 * count), np.ones(2 * count), np.zeros(len(targets))])
    found = milp(
        cost, integrality=whole, bounds=Bounds(0, upper), constraints=constraints, options={"mip_rel_gap": gap}
    )
    assert found.success, found.message
    return float(found.fun) - end_worth * stored_kwh
