"""Reads the numbers in texts of sources, files, requests and operators.

Python's `int` and `float` also accept `1_0`, the digits of other scripts, and spaces around a number. In such texts,
these are mistakes, or are meant in another way.
"""

import re
from typing import Final

_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_DECIMAL: Final = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan|inf(?:inity)?)", re.IGNORECASE | re.ASCII
)


def whole_number(text: str) -> int:
    """Return the whole number that a text consists of. Raises ValueError."""
    if not _WHOLE.fullmatch(text):
        raise ValueError("not a whole number")
    return int(text)


def decimal_number(text: str) -> float:
    """Return the number that a text consists of, which may be infinite or not a number. Raises ValueError."""
    if not _DECIMAL.fullmatch(text):
        raise ValueError("not a number")
    return float(text)
