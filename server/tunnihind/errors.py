"""The errors of the server. Texts from other programs are cut to one line, and the operator's token is hidden."""

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, Literal, Self

type SourceFault = Literal["unreachable", "token", "refused", "busy", "error", "answer"]
"""The kinds of failures: the source can't be reached, refuses the token, refuses the server, limits requests, reports
an error, or gives an invalid answer."""


class TunnihindError(Exception):
    """The base class of all errors that the server raises on purpose. The text of the error is meant for users."""


class SettingsError(TunnihindError):
    """A setting is missing, malformed or out of its range."""


class ParameterError(TunnihindError):
    """A request's parameter is missing, unknown, repeated or malformed.

    The error's text names the parameter, and says how to correct the request.
    """


class NotServed(TunnihindError):
    """A request names a month or a year that isn't served.

    The error's text names the parameter and its valid values.
    """


class NoPriceAhead(TunnihindError):
    """No current or future price is known. The error's text is a sentence without the full stop."""


class NothingToForecast(TunnihindError):
    """No price is known, or the newest price is too old for a forecast. The error's text gives the reason."""


class StoreError(TunnihindError):
    """The store can't be opened, read or written.

    `reason` never contains the database's address, because `/readyz` shows `reason` to everybody. If `may_pass` is
    true, the problem may end by itself, so a starting server keeps trying to open the store.
    """

    def __init__(self, text: str, *, reason: str = "the database can't be used", may_pass: bool = False) -> None:
        super().__init__(text)
        self.reason = reason
        self.may_pass = may_pass


class SchemaError(StoreError):
    """The database has no tables, or its tables are not those of this version of Tunnihind.

    A database without tables may be ready soon, because another server may be making the tables at this moment.
    """


class StoreLost(StoreError):
    """The open database can't be reached, or has been deleted or replaced. The log already says so."""


class StoreDamaged(StoreError):
    """Some data in the store can't be read any more. `reason` contains advice for the operator."""


class LeaseLost(StoreError):
    """The server no longer holds the lease of the pipeline, so its write is not kept."""


class WorkerError(TunnihindError):
    """The process that makes forecasts can't be started, was ended, or failed twice at the same work."""


class ImportFileError(TunnihindError):
    """A file given to `tunnihind import` can't be read, or has an invalid line."""

    def __init__(self, file: str, line: int, column: str, problem: str) -> None:
        super().__init__(f"{file}, line {line}, column {column}: {problem}")
        self.file = file
        self.line = line
        self.column = column
        self.problem = problem


class SourceError(TunnihindError):
    """An upstream source gave no usable answer.

    `problem` is one line of at most 300 characters. `fault` is the kind of failure. If an answer refused the request,
    `status` is the HTTP status of this answer. `fault` and `status` are public. The text of the error is not public,
    because this text may name machines of the operator's network.
    """

    fault: SourceFault = "answer"
    status: int | None = None

    def __init__(self, source: str, problem: str) -> None:
        self.source = source
        self.problem = one_line(problem)
        super().__init__(f"{source}: {self.problem}")

    def redacted(self, redact: Callable[[str], str]) -> Self:
        """Change this error's text with `redact`, and return the error without its traceback and causes.

        The traceback and the causes would keep the whole answer in memory.
        """
        self.problem = redact(self.problem)
        self.args = (f"{self.source}: {self.problem}",)
        self.__cause__ = self.__context__ = None
        return self.with_traceback(None)


class SourceUnreachable(SourceError):
    """The connection to the source failed, or the source did not answer in time."""

    fault = "unreachable"


class SourceRefused(SourceError):
    """The source answered with an error status, or its answer with status 200 reports an error."""

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
    """The source limits requests or is overloaded. Send the next request after `retry_after_s` seconds."""

    def __init__(self, source: str, problem: str, *, status: int, retry_after_s: float) -> None:
        super().__init__(source, problem, status=status)
        self.retry_after_s = retry_after_s


class RunMissing(SourceError):
    """The source does not have the requested run of its weather model."""


class BadAnswer(SourceError):
    """The source's answer can't be used: for example, it is malformed or too large."""


LONGEST: Final = 300
"""A text from another program is cut to this many characters."""

_LOOKED_AT: Final = 65_536
"""Only this many characters of a text from another program are read. This limit is far above `LONGEST`, because hiding
the secret makes the text shorter."""

# This pattern excludes white space, control characters, invisible characters and marks of the writing direction.
_PRINTED: Final = re.compile(
    "[^\\s\x00-\x20\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]+"
)
# If a source quotes only the beginning of the secret, the name of the URL parameter shows where the secret is.
_PARAMETER: Final = re.compile(r"(securityToken(?:=|%(?:25)*3d))[\w.~-]+", re.IGNORECASE)
_HIDDEN: Final = "***"


def one_line(text: str, secret: str = "") -> str:
    """Return the beginning of a text on one line, without control characters and without the secret.

    The secret may be written in percent-encoding, in XML character references, in JSON escapes, or with white space
    inside.
    """
    line = without(secret, _beginning(text))
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def without(secret: str, text: str) -> str:
    """Hide all forms of the secret in a text, and return the whole text."""
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
    """Return a regular expression that matches all written forms of a secret."""
    return r"\s?".join(_character(character) for character in secret.strip())


def _character(character: str) -> str:
    percent = "".join(f"%(?:25)*{byte:02x}" for byte in character.encode())
    code = ord(character)
    return rf"(?:{re.escape(character)}|{percent}|&\#0*{code};|&\#x0*{code:x};|\\u{code:04x})"
