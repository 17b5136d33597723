"""Reads and checks the query parameters of a request."""

from collections.abc import Collection
from typing import Final

from multidict import MultiMapping

from tunnihind.core.market import HOUR_S, QUARTER_S
from tunnihind.errors import ParameterError

_QUOTED_LENGTH: Final = 20
"""An error text shows at most this many characters of a wrong name or value."""

RESOLUTIONS: Final = {"15m": QUARTER_S, "60m": HOUR_S}
"""The values of `resolution` and their steps in seconds. In a request, the first value is the default."""


def require_known_names(query: MultiMapping[str], names: Collection[str]) -> None:
    """Raise ParameterError if a parameter is repeated or is not in `names`."""
    for name in query:
        if name not in names:
            known = " and ".join(f"`{one}`" for one in names)
            raise ParameterError(
                f"`{name[:_QUOTED_LENGTH]}` is not a parameter of this resource, which takes {known}: leave it out."
            )
        if len(query.getall(name)) > 1:
            raise ParameterError(f"`{name}` is given more than once: give it once.")


def required_value(query: MultiMapping[str], name: str, advice: str) -> str:
    """Return the value of a required parameter. If the parameter is missing, raise ParameterError with `advice`."""
    if name not in query:
        raise ParameterError(f"`{name}` is missing: {advice}.")
    return query[name]


def optional_value(query: MultiMapping[str], name: str) -> str | None:
    """Return a parameter's value, or None if the parameter is missing.

    Raises ParameterError if the parameter is repeated.
    """
    given = query.getall(name, [])
    if len(given) > 1:
        raise ParameterError(f"`{name}` is given more than once: give it once, or leave it out.")
    return given[0] if given else None


def chosen_value(query: MultiMapping[str], name: str, choices: Collection[str]) -> str:
    """Return a parameter's value, by default the first of `choices`.

    Raises ParameterError if the parameter is repeated, or if its value is not in `choices`.
    """
    default, *_ = choices
    given = optional_value(query, name)
    if given is None:
        return default
    if given not in choices:
        raise ParameterError(
            f"`{name}` is {quoted_value(given)}: give {' or '.join(choices)}, or leave it out for {default}."
        )
    return given


def quoted_value(value: str) -> str:
    """Return at most the first `_QUOTED_LENGTH` characters of a value, in quotes, for an error text."""
    return repr(value[:_QUOTED_LENGTH])
