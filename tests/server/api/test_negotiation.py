import pytest

from tunnihind.api.http.headers import coding_for_field, has_matching_tag


@pytest.mark.parametrize(
    ("accept_encoding", "coding"),
    [
        ("", "identity"),
        ("gzip", "gzip"),
        ("x-gzip", "gzip"),
        ("GZIP", "gzip"),
        ("zstd", "zstd"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip;q=1.0, zstd;q=0.5", "gzip"),
        ("gzip ; q=0.2 , identity;q=0.5", "identity"),
        ("gzip;q=0.001", "gzip"),
        ("gzip;q=0", "identity"),
        ("gzip;q=0_1", "identity"),
        ("gzip;q=0, zstd;q=0", "identity"),
        ("br, deflate", "identity"),
        ("*", "zstd"),
        ("*;q=0.5, zstd;q=0", "gzip"),
        ("*;q=0", "identity"),
        ("identity;q=0", "identity"),
        ("identity;q=0, *;q=0.1", "zstd"),
        ("gzip, *;q=0", "gzip"),
        ("gzip;q=nonsense", "identity"),
        ("gzip;q=nan", "identity"),
        ("gzip;q=7", "identity"),
        ("gzip;level=9", "gzip"),
        ("gzip;level=9;q=0", "identity"),
        (",,;q=1,", "identity"),
    ],
)
def test_the_coding_that_the_client_likes_best_is_chosen(accept_encoding: str, coding: str) -> None:
    assert coding_for_field(accept_encoding) == coding


@pytest.mark.parametrize(
    ("if_none_match", "current"),
    [
        ('W/"abc"', True),
        ('"abc"', True),
        ('"other", W/"abc" , "more"', True),
        ("*", True),
        (" * ", True),
        ('W/"abcd"', False),
        ('"xabc"', False),
        ("abc", False),
        ('"*"', False),
        ("", False),
    ],
)
def test_a_tag_is_current_when_the_list_names_it_weak_or_strong(if_none_match: str, current: bool) -> None:
    assert has_matching_tag(if_none_match, '"abc"') is current
