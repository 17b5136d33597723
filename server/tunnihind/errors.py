"""The errors of the server. `one_line` shortens another program's text, and can hide a secret in the text."""

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, Literal, Self

type SourceFault = Literal["unreachable", "token", "refused", "busy", "error", "answer"]
"""The ways in which a request to a source fails. In the order of the names above, the source can't be reached, refuses
the token, refuses the server, asks for fewer requests, answers with another error status, or gives no usable answer."""


class TunnihindError(Exception):
    """The base class of the errors in this module. Their texts are meant for users or the operator."""


class SettingsError(TunnihindError):
    """A setting is invalid, contradicts another setting, or can't be used on this machine."""


class ParameterError(TunnihindError):
    """A request's parameter is missing, unknown, repeated or invalid.

    The error's text names the parameter, and says how to correct the request.
    """


class NotServed(TunnihindError):
    """A request names a month or a year that isn't served.

    The error's text names the parameter and its valid values.
    """


class NoPriceAhead(TunnihindError):
    """No current or future price is settled or forecast. The error's text is a sentence without the full stop."""


class NothingToForecast(TunnihindError):
    """No price is known, or the newest price is too old for a forecast. The error's text says which."""


class StoreError(TunnihindError):
    """The store can't be used: for example, it can't be opened, or lacks data that a command needs.

    `reason` never contains the database's address, because `/readyz` shows `reason` to everybody. If `may_pass` is
    true, the problem may end by itself, so a starting server keeps trying to open the store.
    """

    def __init__(self, text: str, *, reason: str = "the database can't be used", may_pass: bool = False) -> None:
        super().__init__(text)
        self.reason = reason
        self.may_pass = may_pass


class SchemaError(StoreError):
    """The database has no tables, or its tables don't fit this version of Tunnihind.

    If there are no tables, `may_pass` is true, because another server may be making the tables at this moment.
    """


class StoreLost(StoreError):
    """The open database can't be reached, or has been deleted or replaced. The log already says so."""


class StoreDamaged(StoreError):
    """The database file, a table or an index is damaged. `reason` contains advice for the operator."""


class LeaseLost(StoreError):
    """The server no longer holds the lease of the pipeline, so the server's write is not kept."""


class WorkerError(TunnihindError):
    """The process that makes forecasts can't be started, died twice at the same work, or was ended on purpose."""


class ImportFileError(TunnihindError):
    """A file given to `tunnihind import` or `compare` can't be read, or has an invalid line."""

    def __init__(self, file: str, line: int, column: str, problem: str) -> None:
        super().__init__(f"{file}, line {line}, column {column}: {problem}")
        self.file = file
        self.line = line
        self.column = column
        self.problem = problem


class SourceError(TunnihindError):
    """A source gave no usable answer.

    `problem` is one line of at most 300 characters. If an answer refused the request, `status` is the answer's HTTP
    status. `fault` and `status` are shown to everybody, but the error's text is not, because the text may name machines
    of the operator's network.
    """

    fault: SourceFault = "answer"
    status: int | None = None

    def __init__(self, source: str, problem: str) -> None:
        self.source = source
        self.problem = one_line(problem)
        super().__init__(f"{source}: {self.problem}")

    def redact_with(self, redact: Callable[[str], str]) -> Self:
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
    """The source answered with an unexpected status, or with a document that reports an error."""

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
    """The source limits requests or is overloaded. Wait `retry_after_s` seconds before the next request."""

    def __init__(self, source: str, problem: str, *, status: int, retry_after_s: float) -> None:
        super().__init__(source, problem, status=status)
        self.retry_after_s = retry_after_s


class WeatherRunMissing(SourceError):
    """The source does not have the requested weather run."""


class BadAnswer(SourceError):
    """The source's answer can't be used: for example, it is malformed or too large."""


LONGEST_TEXT: Final = 300
"""The result of `one_line` has at most this many characters."""

_LONGEST_SEARCHED: Final = 65_536
"""`one_line` cuts a text to this many characters before it hides the secret. This number is far above `LONGEST_TEXT`,
because hiding the secret can make the text shorter."""

# This pattern matches a word. White space, control characters and invisible characters end a word.
_WORD: Final = re.compile(
    "[^\\s\x00-\x20\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]+"
)
# If a source quotes only the beginning of the secret, the name of the URL parameter shows where the secret is.
_TOKEN_PARAMETER: Final = re.compile(r"(securityToken(?:=|%(?:25)*3d))[\w.~-]+", re.IGNORECASE)
_HIDDEN: Final = "***"


def one_line(text: str, secret: str = "") -> str:
    """Return the beginning of a text on one line of at most `LONGEST_TEXT` characters, with the secret hidden.

    White space, control characters and invisible characters between two words become one space.
    """
    line = hide_secret(secret, _words_on_one_line(text))
    return line if len(line) <= LONGEST_TEXT else line[: LONGEST_TEXT - 1] + "…"


def hide_secret(secret: str, text: str) -> str:
    """Return the whole text with the secret hidden.

    The characters of the secret may be percent-encoded, or written as XML character references or JSON escapes. One
    white space character may stand between two characters of the secret. The value of a URL parameter `securityToken`
    is hidden too. If `secret` is empty, nothing is hidden.
    """
    if not secret:
        return text
    hidden = re.sub(_secret_pattern(secret), _HIDDEN, text, flags=re.IGNORECASE)
    return _TOKEN_PARAMETER.sub(rf"\1{_HIDDEN}", hidden)


def _words_on_one_line(text: str) -> str:
    words: list[str] = []
    length = 0
    for found in _WORD.finditer(text):
        words.append(found[0][:_LONGEST_SEARCHED])
        length += len(words[-1]) + 1
        if length > _LONGEST_SEARCHED:
            break
    return " ".join(words)[:_LONGEST_SEARCHED]


def _secret_pattern(secret: str) -> str:
    return r"\s?".join(_character_pattern(character) for character in secret.strip())


def _character_pattern(character: str) -> str:
    percent = "".join(f"%(?:25)*{byte:02x}" for byte in character.encode())
    code = ord(character)
    return rf"(?:{re.escape(character)}|{percent}|&\#0*{code};|&\#x0*{code:x};|\\u{code:04x})"
