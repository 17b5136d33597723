"""Reads the numbers in texts of sources, files, requests and operators, and writes the numbers of tables.

Python's `int` and `float` also accept `1_0`, the digits of other scripts, and spaces around a number. In such texts,
these are mistakes, or are meant in another way.
"""

import re
from math import isinf, isnan
from typing import Final

_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def whole_number(text: str) -> int:
    """Return the whole number that a text consists of. Raises ValueError."""
    if not _WHOLE.fullmatch(text):
        raise ValueError("not a whole number")
    return int(text)


def decimal_number(text: str) -> float:
    """Return the finite number that a text consists of. Raises ValueError."""
    if not _DECIMAL.fullmatch(text) or isinf(float(text)):
        raise ValueError("not a finite number")
    return float(text)


def decimal_text(value: float, decimals: int) -> str:
    """Return a number as text with `decimals` decimals. NaN becomes an empty string, and negative zero becomes zero."""
    return "" if isnan(value) else f"{round(value, decimals) + 0.0:.{decimals}f}"
