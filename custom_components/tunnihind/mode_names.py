"""How a server is named and credited whose prices are not today's: in the language of the installation, once for all.

Names of entries and attributions are texts that Home Assistant does not translate.
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
    "et": {Mode.DEMO: "Demo, välja mõeldud hinnad", Mode.REHEARSAL: "Proov, möödunud päeva hinnad"},
}


def name_of(mode: Mode, language: str) -> str:
    """Return what a server is called."""
    word = _WORDS.get(language, _WORDS[_ENGLISH]).get(mode)
    return f"{_NAME} {word}" if word else _NAME


def attribution_in(credit: str, mode: Mode, language: str) -> str:
    """Return the credit, after a mark where prices are made up or of a past day."""
    mark = _CREDITS.get(language, _CREDITS[_ENGLISH]).get(mode)
    return f"{mark} · {credit}" if mark else credit
