"""The numbers in texts: digits of ASCII, without underscores and spaces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunnihind.numerals import decimal_number, whole_number

NO_NUMBERS = ["", " ", "1_0", "1 0", " 1", "1 ", "1\n", "\u00a01", "١", "１", "²", "½", "Ⅳ", "1,5", "0x1", "one", "--1"]
NOT_FINITE = ["nan", "-NaN", "inf", "+Infinity", "1e999"]


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_a_text_that_only_python_takes_for_a_number_is_none(text: str) -> None:
    for read in (whole_number, decimal_number):
        with pytest.raises(ValueError, match="not a"):
            read(text)


@pytest.mark.parametrize("text", NOT_FINITE)
def test_a_number_is_finite(text: str) -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        decimal_number(text)


@given(st.integers())
def test_a_whole_number_is_read_as_it_is_written(number: int) -> None:
    assert whole_number(str(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_decimal_number_is_read_as_it_is_written(number: float) -> None:
    assert decimal_number(repr(number)) == number


@given(st.text(alphabet=st.characters(categories=["Nd", "Nl", "No", "Zs"]) | st.sampled_from("0123456789+-._eE")))
def test_what_is_read_has_only_characters_of_ascii(text: str) -> None:
    for read in (whole_number, decimal_number):
        try:
            read(text)
        except ValueError:
            continue
        assert text.isascii()
        assert not {"_", " "} & set(text)
