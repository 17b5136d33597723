"""The errors of the server. Texts from other programs are shortened to one line, without the operator's secret.

TunnihindError
├── SettingsError          a setting is missing or out of its range
├── ParameterError         a request has a malformed, unknown or missing parameter
├── NotServed              a request names a month or a year that isn't served
├── NoPriceAhead           no current or future price is known
├── NothingToForecast      no price is known, or the newest is too old for a forecast
├── StoreError             the store can't be opened, read or written
│   ├── SchemaError        the store was written by a newer version
│   ├── StoreLost          its file has been deleted or replaced since it was opened
│   ├── StoreDamaged       a part of it can't be read any more, for instance after a disk fault
│   └── LeaseLost          another server has taken over the pipeline, so this one's writes are not kept
├── WorkerError            the process that makes forecasts can't be started, or dies at its work
├── ImportFileError        a file given to `import` has an invalid line
└── SourceError            an upstream source gave no usable answer
    ├── SourceUnreachable  no answer, or none in time
    ├── SourceRefused      the source answered with an error status
    │   ├── TokenRefused   the source refuses the operator's token
    │   └── RateLimited    the source asked for a pause
    ├── RunMissing         the source does not have this run of its weather model
    └── BadAnswer          the answer breaks the source's format
"""

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, Literal, Self

type SourceFault = Literal["unreachable", "token", "refused", "busy", "error", "answer"]
"""The source can't be reached, refuses the token, refuses the server, limits requests, reports an error, or its answer
is invalid."""


class TunnihindError(Exception):
    """Base of every error that the server raises on purpose. Its text is meant for users."""


class SettingsError(TunnihindError):
    """A setting is missing, malformed or out of its range."""


class ParameterError(TunnihindError):
    """A request's parameter is missing, unknown, repeated or malformed. The text names it and says what to give."""


class NotServed(TunnihindError):
    """A request names a month or a year that isn't served. The text names the parameter and says what to give."""


class NoPriceAhead(TunnihindError):
    """No current or future price is known. The text is a sentence without its full stop."""


class NothingToForecast(TunnihindError):
    """No price is known, or the newest one is too old for a forecast. The text says which."""


class StoreError(TunnihindError):
    """The store can't be opened, read or written.

    `reason` says why without the database's address, because `/readyz` shows it to everybody. `may_pass` is true if the
    trouble may end without a change of settings, so a starting server waits for that.
    """

    def __init__(self, text: str, *, reason: str = "the database can't be used", may_pass: bool = False) -> None:
        super().__init__(text)
        self.reason = reason
        self.may_pass = may_pass


class SchemaError(StoreError):
    """The store is from a newer version of Tunnihind, or from an older one that can't be upgraded, or it is empty.

    An empty store may be temporary, because a server may be about to make the tables.
    """


class StoreLost(StoreError):
    """The store's file has been deleted or replaced since it was opened. This has already been logged."""


class StoreDamaged(StoreError):
    """A part of the store can't be read any more. `reason` says what the operator can do."""


class LeaseLost(StoreError):
    """Another server has taken over the pipeline, so this server's write is not kept."""


class WorkerError(TunnihindError):
    """The process that makes forecasts can't be started, or dies during its work."""


class ImportFileError(TunnihindError):
    """A file given to `tunnihind import` has an invalid line."""

    def __init__(self, file: str, line: int, column: str, problem: str) -> None:
        super().__init__(f"{file}, line {line}, column {column}: {problem}")
        self.file = file
        self.line = line
        self.column = column
        self.problem = problem


class SourceError(TunnihindError):
    """An upstream source gave no usable answer. The text has its message on one line of at most 300 characters.

    `fault` is the kind of failure, and `status` is the HTTP status if there is one. These two are public. The text is
    not public, because it may name machines of the operator's network.
    """

    fault: SourceFault = "answer"
    status: int | None = None

    def __init__(self, source: str, problem: str) -> None:
        self.source = source
        self.problem = one_line(problem)
        super().__init__(f"{source}: {self.problem}")

    def redacted(self, redact: Callable[[str], str]) -> Self:
        """Return this error without its traceback and causes. `redact` changes its text.

        Traceback and causes would keep the whole answer in memory.
        """
        self.problem = redact(self.problem)
        self.args = (f"{self.source}: {self.problem}",)
        self.__cause__ = self.__context__ = None
        return self.with_traceback(None)


class SourceUnreachable(SourceError):
    """The source did not answer, or did not answer in time."""

    fault = "unreachable"


class SourceRefused(SourceError):
    """The source answered with an error status, or with an error in an answer of status 200."""

    status: int

    def __init__(self, source: str, problem: str, *, status: int) -> None:
        super().__init__(source, problem)
        self.status = status
        match status:
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
                self.fault = "refused"
            case HTTPStatus.TOO_MANY_REQUESTS:
                self.fault = "busy"
            case _ if status >= HTTPStatus.BAD_REQUEST:
                self.fault = "error"


class TokenRefused(SourceRefused):
    """The source refuses the operator's token."""

    def __init__(self, source: str, problem: str, *, status: int) -> None:
        super().__init__(source, problem, status=status)
        self.fault = "token"


class RateLimited(SourceRefused):
    """The source asked for a pause of `retry_after_s` seconds."""

    def __init__(self, source: str, problem: str, *, status: int, retry_after_s: float) -> None:
        super().__init__(source, problem, status=status)
        self.retry_after_s = retry_after_s


class RunMissing(SourceError):
    """The source does not have a run of its weather model, or does not have it yet."""


class BadAnswer(SourceError):
    """The answer breaks the source's format."""


LONGEST: Final = 300
"""A foreign text is cut to this many characters."""

_LOOKED_AT: Final = 65_536
"""Only this many characters of a foreign text are read. After secrets are hidden, more than `LONGEST` of them
remain."""

# These are white space, control characters, invisible characters, and characters that change the writing direction.
_PRINTED: Final = re.compile(
    "[^\\s\x00-\x20\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]+"
)
# The parameter's name shows where the secret is, even if the other side has cut it short.
_PARAMETER: Final = re.compile(r"(securityToken(?:=|%(?:25)*3d))[\w.~-]+", re.IGNORECASE)
_HIDDEN: Final = "***"


def one_line(text: str, secret: str = "") -> str:
    """Return the beginning of a text on one line, without control characters and without the secret.

    The secret is found as plain text, percent-encoded, in XML character references, in JSON escapes, or with white
    space inside.
    """
    line = without(secret, _beginning(text))
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def without(secret: str, text: str) -> str:
    """Return the whole text without the secret, in whatever way the secret is written."""
    if not secret:
        return text
    hidden = re.sub(_pattern_of(secret), _HIDDEN, text, flags=re.IGNORECASE)
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


def _pattern_of(secret: str) -> str:
    """Return a pattern for all the ways in which a secret may be written."""
    return r"\s?".join(_character(character) for character in secret.strip())


def _character(character: str) -> str:
    percent = "".join(f"%(?:25)*{byte:02x}" for byte in character.encode())
    code = ord(character)
    return rf"(?:{re.escape(character)}|{percent}|&\#0*{code};|&\#x0*{code:x};|\\u{code:04x})"
