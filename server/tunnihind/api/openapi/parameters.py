"""What resources take: query parameters, and the tag of an answer that the client has."""

from typing import Final

from tunnihind.api.answers import MAX_DAYS, MIN_DAYS
from tunnihind.api.feeds import PRICES
from tunnihind.api.history import FIRST
from tunnihind.api.parameters import RESOLUTIONS
from tunnihind.api.score_table import DEFAULT_DAYS, FIRST_YEAR, FORMATS

DAYS: Final = {
    "name": "days",
    "in": "query",
    "required": False,
    "description": f"History window in days: one or two digits, clamped into {MIN_DAYS} to {MAX_DAYS}.",
    "schema": {"type": "string", "pattern": "^[0-9]{1,2}$", "default": str(MAX_DAYS)},
    "example": "7",
}

DAYS_BEFORE: Final = DAYS | {
    "description": f"Days of history before the current quarter: one or two digits, clamped into 0 to {MAX_DAYS}.",
    "schema": {"type": "string", "pattern": "^[0-9]{1,2}$", "default": "0"},
    "example": "1",
}

MONTH: Final = {
    "name": "month",
    "in": "query",
    "required": True,
    "description": f"A calendar month by the Estonian clock, YYYY-MM, from {FIRST} to the running one; "
    "another is a 404.",
    "schema": {"type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])$"},
    "example": "2025-12",
}

RESOLUTION: Final = {
    "name": "resolution",
    "in": "query",
    "required": False,
    "description": "How long each period is: a quarter of an hour or an hour.",
    "schema": {"type": "string", "enum": [*RESOLUTIONS], "default": next(iter(RESOLUTIONS))},
}

PRICE: Final = {
    "name": "price",
    "in": "query",
    "required": False,
    "description": "`consumer` is with VAT, `market` without. The rate is the law's of each date, or what the "
    "operator of this server chose; `Tunnihind-VAT-Rate` names it.",
    "schema": {"type": "string", "enum": [*PRICES], "default": PRICES[0]},
}

FORMAT: Final = {
    "name": "format",
    "in": "query",
    "required": False,
    "description": "`json` sums the last weeks up, `csv` is the table.",
    "schema": {"type": "string", "enum": [*FORMATS], "default": FORMATS[0]},
}

YEAR: Final = {
    "name": "year",
    "in": "query",
    "required": False,
    "description": f"For the table: the days of issue of a year, from {FIRST_YEAR} to the running one; another is a "
    f"404. Without it the last {DEFAULT_DAYS} days.",
    "schema": {"type": "string", "pattern": "^[0-9]{4}$"},
    "example": "2025",
}

KNOWN_TAG: Final = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "The `ETag` of the answer that the client has: with nothing new it gets 304 and no body.",
    "schema": {"type": "string"},
    "example": 'W/"0d1c2b3a49586776a5b4c3d2"',
}
