"""Addresses that people type."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.client.requests import server_url, url_without_password


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("http://192.168.1.10:8080", "http://192.168.1.10:8080"),
        ("192.168.1.10:8080", "http://192.168.1.10:8080"),
        ("tunnihind.local", "http://tunnihind.local"),
        ("  http://box:8080/  ", "http://box:8080"),
        ("HTTPS://Prices.Example", "https://prices.example"),
        ("http://BÖRS.example", "http://xn--brs-sna.example"),
        ("https://example.com/prices/", "https://example.com/prices"),
        ("https://example.com/prices/api/v1/forecast", "https://example.com/prices"),
        ("http://box:8080/api/series?days=2", "http://box:8080"),
        ("http://box:8080/api/v1/history?month=2025-11", "http://box:8080"),
        ("http://box:8080/api/v1/scenarios", "http://box:8080"),
        ("http://box:8080/api/feeds/evcc?resolution=60m", "http://box:8080"),
        ("http://box:8080/docs#problem-400", "http://box:8080"),
        ("http://box:8080/api", "http://box:8080/api"),
        ("[fd00::5]:8080", "http://[fd00::5]:8080"),
        ("http://me:secret@box", "http://me:secret@box"),
    ],
)
def test_an_address_becomes_a_base_url(typed: str, url: str) -> None:
    assert server_url(typed) == url


@pytest.mark.parametrize(
    "typed",
    ["", "http://", "ftp://box", "file:///etc/passwd", "http://my box", "http://box:99999", "http://[fd00", "/x"],
)
def test_a_text_that_is_not_a_web_address_is_refused(typed: str) -> None:
    with pytest.raises(ValueError):
        server_url(typed)


PARTS = [
    "http://",
    "https://",
    "box",
    "[fd00::5]",
    ":80",
    "/",
    "//",
    "docs",
    "/api/about",
    "?a=b",
    "#c",
    "%2F",
    "ä",
    " ",
]


@given(st.lists(st.sampled_from(PARTS)).map("".join) | st.text())
def test_a_normalised_address_stays_the_same_when_typed_again(typed: str) -> None:
    try:
        url = server_url(typed)
    except ValueError:
        return
    assert server_url(url) == url


def test_a_password_is_not_shown() -> None:
    assert url_without_password("https://me:secret@box:8080/prices") == "https://box:8080/prices"
