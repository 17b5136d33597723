"""What somebody else wrote, made fit for an error, a log, a table or a page: short, on one line, without our secret."""

import re
from typing import Final

LONGEST: Final = 300
"""Characters of a foreign text that are told on."""

_LOOKED_AT: Final = 65_536
"""Characters of a text that are looked at: none that is longer can come down to fewer than are told."""

# White space, controls, and what is invisible or turns the direction of writing.
_PRINTED: Final = re.compile(
    "[^\\s\x00-\x20\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]+"
)
# The parameter's name gives away what the other side has cut short.
_PARAMETER: Final = re.compile(r"(securityToken(?:=|%(?:25)*3d))[\w.~-]+", re.IGNORECASE)
_HIDDEN: Final = "***"


def one_line(text: str, secret: str = "") -> str:
    """Return the beginning of a text on one line, without control characters and without the secret.

    The secret is found as it is, percent-encoded once or more, as character references of XML and escapes of JSON,
    and where white space has got into it.
    """
    line = without(secret, _beginning(text))
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def without(secret: str, text: str) -> str:
    """Return all of a text without the secret, however it is written."""
    if not secret:
        return text
    hidden = re.sub(_anyhow_written(secret), _HIDDEN, text, flags=re.IGNORECASE)
    return _PARAMETER.sub(rf"\1{_HIDDEN}", hidden)


def _beginning(text: str) -> str:
    words: list[str] = []
    length = 0
    for found in _PRINTED.finditer(text):
        words.append(found[0][:_LOOKED_AT])
        length += len(words[-1]) + 1
        if length > _LOOKED_AT:
            break
    return " ".join(words)[:_LOOKED_AT]


def _anyhow_written(secret: str) -> str:
    """Return a pattern for all the ways in which a secret may be written."""
    return r"\s?".join(_character(character) for character in secret.strip())


def _character(character: str) -> str:
    percent = "".join(f"%(?:25)*{byte:02x}" for byte in character.encode())
    code = ord(character)
    return rf"(?:{re.escape(character)}|{percent}|&\#0*{code};|&\#x0*{code:x};|\\u{code:04x})"
