"""Checks that a value is one of several words. Their errors list the words as people write them."""

from collections.abc import Iterable

import voluptuous as vol


def words(choices: Iterable[str]) -> list[str]:
    """Return `choices` as plain strings, because an error would show an enum's member as `<Direction.BUY: 'buy'>`."""
    return [*map(str, choices)]


def one_of(choices: Iterable[str]) -> vol.In:
    """Return a check that accepts only `choices`."""
    return vol.In(words(choices), f"expected one of {', '.join(choices)}")
