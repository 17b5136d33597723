"""The cheapest course of a battery as a mixed-integer linear program, for an independent solver (HiGHS)."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_array, csr_array, diags_array, eye_array

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
    gap: float = 1e-6,
    seconds: float = 60,
) -> float:
    """Return the cost of the cheapest course, with what targets lack at LACKING, to a relative `gap`.

    The search stops after some `seconds` with the best course found. If it found none, the cost is infinite.

    The unknowns are, for each step, the power in kW to charge, to discharge, to buy and to sell, what is stored at the
    end in kWh, whether the battery charges and whether the home buys; then what each target lacks, in kWh.
    """
    count = len(steps.starts)
    hours = np.diff(steps.starts, append=steps.end) / 3600
    one_way = sqrt(battery.efficiency)
    use = steps.use_kw
    room = 0.0 if not battery.charges_from_grid else np.inf if steps.room_kw is None else steps.room_kw
    most_charged = np.minimum(battery.charge_kw, np.maximum(-use, room))
    most_discharged = np.minimum(battery.discharge_kw, np.inf if battery.sells else np.maximum(use, 0))
    most_charged, most_discharged = np.broadcast_to(most_charged, count), np.broadcast_to(most_discharged, count)
    most_bought, most_sold = np.maximum(use + most_charged, 0), np.maximum(most_discharged - use, 0)

    one, none = eye_array(count), csr_array((count, count))
    charges, discharges = diags_array(hours * one_way), diags_array(hours / one_way)
    change = one - eye_array(count, k=-1)
    limits = [diags_array(most) for most in (most_charged, most_discharged, most_bought, most_sold)]
    rows = block_array(
        [
            [-one, one, one, -one, none, none, none],
            [-charges, discharges, none, none, change, none, none],
            [one, none, none, none, none, -limits[0], none],
            [none, one, none, none, none, limits[1], none],
            [none, none, one, none, none, none, -limits[2]],
            [none, none, none, one, none, none, limits[3]],
        ]
    )
    before = np.zeros(count)
    before[0] = stored_kwh
    exact = np.concatenate([use, before])
    most = np.concatenate([np.zeros(count), most_discharged, np.zeros(count), most_sold])
    least = np.full(4 * count, -np.inf)
    lacks = csr_array((6 * count, len(targets)))
    constraints = [
        LinearConstraint(block_array([[rows, lacks]]), np.append(exact, least), np.append(exact, most)),
    ]
    ends = [*steps.starts[1:].tolist(), steps.end]
    for number, target in enumerate(targets):
        reached = np.zeros(7 * count + len(targets))
        reached[[4 * count + ends.index(target.at), 7 * count + number]] = 1
        constraints.append(LinearConstraint(reached, target.stored_kwh, np.inf))

    none_cost = np.zeros(count)
    kept = np.append(none_cost[1:], -end_worth)
    cost = np.concatenate(
        [
            *(none_cost, battery.wear * hours, steps.buying * hours, -steps.selling * hours),
            *(kept, none_cost, none_cost, np.full(len(targets), LACKING)),
        ]
    )
    infinite = np.full(len(targets), np.inf)
    lower = np.concatenate(
        [np.zeros(4 * count), np.full(count, battery.lowest_kwh), np.zeros(2 * count + len(targets))]
    )
    upper = np.concatenate(
        [
            *(most_charged, most_discharged, most_bought, most_sold),
            *(np.full(count, battery.highest_kwh), np.ones(2 * count), infinite),
        ]
    )
    is_whole = np.concatenate([np.zeros(5 * count), np.ones(2 * count), np.zeros(len(targets))])
    options = {"mip_rel_gap": gap, "time_limit": seconds}
    found = milp(cost, integrality=is_whole, bounds=Bounds(lower, upper), constraints=constraints, options=options)
    return np.inf if found.x is None else float(found.fun)
