"""Names and credits of demos and rehearsals, in the language of the installation.

Home Assistant does not translate titles of entries and attributions.
"""

from typing import Final

from .answers import Mode

_NAME: Final = "Tunnihind"
_ENGLISH: Final = "en"
_WORDS: Final = {
    "en": {Mode.DEMO: "demo", Mode.REHEARSAL: "rehearsal"},
    "et": {Mode.DEMO: "demo", Mode.REHEARSAL: "proov"},
}
_CREDITS: Final = {
    "en": {Mode.DEMO: "Demo, simulated prices", Mode.REHEARSAL: "Rehearsal, prices of a past day"},
    "et": {Mode.DEMO: "Demo, väljamõeldud hinnad", Mode.REHEARSAL: "Proov, möödunud päeva hinnad"},
}


def name_of(mode: Mode, language: str) -> str:
    """Return the name of a server."""
    word = _WORDS.get(language, _WORDS[_ENGLISH]).get(mode)
    return f"{_NAME} {word}" if word else _NAME


def marked_credit(credit: str, mode: Mode, language: str) -> str:
    """Return the credit, with a mark in front for a demo or a rehearsal."""
    mark = _CREDITS.get(language, _CREDITS[_ENGLISH]).get(mode)
    return f"{mark} · {credit}" if mark else credit
