"""Query parameters that are taken strictly: what isn't known, isn't single or isn't a choice is refused."""

from collections.abc import Collection
from typing import Final

from multidict import MultiMapping

from tunnihind.errors import ParameterError
from tunnihind.market import HOUR_S, QUARTER_S

_SHOWN: Final = 20
"""How many characters of a wrong value an error shows."""

RESOLUTIONS: Final = {"15m": QUARTER_S, "60m": HOUR_S}
"""The steps that prices are served in, seconds by how `resolution` names them; the first is the default."""


def require_known(query: MultiMapping[str], names: Collection[str]) -> None:
    """Refuse a query with a parameter that isn't among the names, or is given twice. Raises ParameterError."""
    for name in query:
        if name not in names:
            known = " and ".join(f"`{one}`" for one in names)
            raise ParameterError(
                f"`{name[:_SHOWN]}` is no parameter of this resource, which takes {known}: leave it out."
            )
        if len(query.getall(name)) > 1:
            raise ParameterError(f"`{name}` is given more than once: give it once.")


def required(query: MultiMapping[str], name: str, advice: str) -> str:
    """Return a parameter that has to be given; the advice says what to give. Raises ParameterError."""
    if name not in query:
        raise ParameterError(f"`{name}` is missing: {advice}.")
    return query[name]


def optional(query: MultiMapping[str], name: str) -> str | None:
    """Return a parameter that may be given, None if it is not. Raises ParameterError if it is given twice."""
    given = query.getall(name, [])
    if len(given) > 1:
        raise ParameterError(f"`{name}` is given more than once: give it once, or leave it out.")
    return given[0] if given else None


def choice(query: MultiMapping[str], name: str, choices: Collection[str]) -> str:
    """Return which of the choices a parameter names, by default the first. Raises ParameterError."""
    default, *_ = choices
    given = optional(query, name)
    if given is None:
        return default
    if given not in choices:
        raise ParameterError(f"`{name}` is {shown(given)}: give {' or '.join(choices)}, or leave it out for {default}.")
    return given


def shown(value: str) -> str:
    """Return a value as an error shows it."""
    return repr(value[:_SHOWN])
