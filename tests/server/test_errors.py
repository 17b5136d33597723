from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunnihind.errors import LONGEST_TEXT, BadAnswer, RateLimited, one_line

SECRET = "0d4c2f4e-2f6b-secret"  # noqa: S105


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        SECRET.upper(),
        quote(SECRET).replace("-", "%2D"),
        "".join(f"%{byte:02x}" for byte in SECRET.encode()),
        "".join(f"%25{byte:02X}" for byte in SECRET.encode()),
        "".join(f"&#{ord(character)};" for character in SECRET),
        "".join(f"&#x{ord(character):X};" for character in SECRET),
        "".join(f"\\u{ord(character):04x}" for character in SECRET),
        SECRET[:9] + "\n" + SECRET[9:],
        SECRET[:9] + "\x00\u200b" + SECRET[9:],
    ],
)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("Invalid security token ", "."),
        ("https://web-api.tp.entsoe.eu/api?securityToken=", "&documentType=A44"),
        ("redirect=https%3A%2F%2Fhost%2Fapi%3FsecurityToken%3D", "%26documentType%3DA44"),
        ("https://user:", "@host/"),
        ("https://host/", "/prices"),
    ],
)
def test_the_secret_is_hidden_however_it_is_written(before: str, written: str, after: str) -> None:
    assert one_line(f"{before}{written}{after}", SECRET) == f"{before}***{after}"


def test_what_is_left_of_a_secret_cut_short_is_hidden_by_its_name() -> None:
    assert one_line(f"/api?securityToken={SECRET[:12]}", SECRET) == "/api?securityToken=***"


def test_a_secret_of_other_letters_is_hidden_too() -> None:
    assert one_line(f"token {quote('tõkë n')}", "tõkë n") == "token ***"


@given(st.text(), st.text(), st.integers(0, 2_000))
def test_no_text_brings_the_secret_out(before: str, after: str, spaces: int) -> None:
    assert SECRET not in one_line(f"{before}{' ' * spaces}{SECRET}{after}", SECRET)


@given(st.text() | st.text("a\n\r\x00\x1b\u2028\u202e\u200b\ud800", max_size=1_000))
def test_a_text_becomes_one_short_line_that_a_terminal_and_a_file_can_take(text: str) -> None:
    line = one_line(text)
    assert len(line) <= LONGEST_TEXT
    assert len(line.splitlines()) <= 1
    assert all(character.isprintable() or character not in "\x00\x1b\x7f\u2028\u202e\u200b" for character in line)
    line.encode()


def test_a_long_text_says_that_it_goes_on() -> None:
    assert one_line("word " * 1_000_000) == ("word " * 60)[: LONGEST_TEXT - 1] + "…"


@pytest.mark.parametrize("padding", [" " * 100_000, "\x00" * 100_000, "\u200b" * 100_000])
def test_padding_hides_nothing_and_brings_nothing_out(padding: str) -> None:
    assert one_line(f"so{padding}{SECRET}{padding}it is", SECRET) == "so *** it is"


def test_every_error_of_a_source_is_told_in_one_line() -> None:
    for error in (
        BadAnswer("source", "a\nb" * 1_000),
        RateLimited("source", "a\nb" * 1_000, status=429, retry_after_s=1),
    ):
        assert str(error) == f"source: {error.problem}"
        assert len(error.problem) == LONGEST_TEXT
        assert "\n" not in str(error)
