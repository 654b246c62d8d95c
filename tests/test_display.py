"""Numbers as people read them: exact halves, outward intervals, bounds that never claim more."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from medgauge_lib.charts import display
from medgauge_lib.estimators import AMOUNT_NOT_APPLICABLE, NO_SUCCESS
from medgauge_lib.results import Absent, Estimate, Interval, as_written

SHARES = st.one_of(
    st.fractions(0, 1, max_denominator=10**6), st.floats(0, 1, allow_nan=False, allow_subnormal=False)
)


def plain(text):
    """Return a shown number as a reader would copy it."""
    return text.replace(display.NBSP, " ").replace(display.MINUS, "-").replace(",", "")


def shown_share(text):
    """Return a shown percentage as an exact share."""
    return Fraction(plain(text).removesuffix(" %")) / 100


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (Fraction(0), "0.0 %"),
        (Fraction(1), "100.0 %"),
        (0.42, "42.0 %"),
        (Fraction(1, 2000), "0.1 %"),  # half of a tenth of a percent
        (Fraction(5, 16), "31.3 %"),  # 31.25
        (0.0605, "6.1 %"),  # the double lies below; the decimal that a record writes is a half
        (0.2845, "28.5 %"),
        (Fraction(1, 10**6), "< 0.1 %"),
        (Fraction(9999, 10_000), "> 99.9 %"),
    ],
)
def test_share_has_one_decimal_decided_on_the_exact_number(share, text):
    """Halves go away from zero, and only 0 and 1 look like 0 and 1."""
    assert plain(display.percent(share)) == text


@given(st.decimals(0, 1, places=8))
def test_share_is_rounded_as_the_decimal_module_rounds_a_half_up(share):
    """A float share agrees with ROUND_HALF_UP on the decimal that it is written as."""
    text = plain(display.percent(float(share)))
    expected = (Decimal(repr(float(share))) * 100).quantize(Decimal("0.1"), ROUND_HALF_UP)
    if text[0] in "<>":
        assert expected in (0, 100)
        assert share not in (0, 1)
    else:
        assert Decimal(text.removesuffix(" %")) == expected


@given(SHARES, SHARES)
@example(0.3, 0.7)
@example(0.1 + 0.2, 1 - 1e-16)
def test_shown_interval_contains_the_interval(one, other):
    """An interval of shares is never shown narrower than it is, and wider by less than 0.1 at each end."""
    low, high = sorted((float(one), float(other)))
    text = plain(display.interval(Interval(low, high, 0.95, "clopper_pearson"))).removesuffix(" %")
    shown_low, shown_high = (Fraction(part) / 100 for part in text.split(" to "))
    assert shown_low <= as_written(low) < shown_low + Fraction(1, 1000)
    assert shown_high - Fraction(1, 1000) < as_written(high) <= shown_high
    assert 0 <= shown_low <= shown_high <= 1


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_shown_interval_of_a_difference_contains_it(one, other):
    """Outward rounding holds on both sides of zero."""
    low, high = sorted((one, other))
    text = plain(display.interval(Interval(low, high, 0.95, "bca_task_bootstrap"), difference=True))
    shown_low, shown_high = (Fraction(part) / 100 for part in text.removesuffix(" pp").split(" to "))
    assert shown_low <= as_written(low)
    assert as_written(high) <= shown_high


@given(SHARES)
@example(0.05 ** (1 / 59))
@example(0.9999)
def test_shown_bound_never_claims_more(claim):
    """A claimable bound is rounded down, by less than 0.1."""
    shown = shown_share(display.bound(claim))
    assert shown <= as_written(claim) < shown + Fraction(1, 1000)


@pytest.mark.parametrize(
    ("difference", "text"),
    [
        (Fraction(1, 8), "+12.5 pp"),
        (Fraction(-1, 8), "-12.5 pp"),
        (Fraction(0), "0.0 pp"),
        (Fraction(-1, 10**5), "0.0 pp"),
        (Fraction(-1, 2000), "-0.1 pp"),
    ],
)
def test_difference_carries_its_sign(difference, text):
    """Differences have a plus or a proper minus, and no sign where they round to zero."""
    assert plain(display.points(difference)) == text
    assert "-" not in display.points(difference)


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (Fraction(1), "1.000"),
        (Fraction(1, 32), "0.031"),
        (Fraction(1, 20), "0.050"),
        (Fraction(49_999, 10**6), "0.050"),
        (Fraction(50_001, 10**6), "0.050001"),
        (Fraction(504, 10_000), "0.0504"),
        (Fraction(1, 10**9), "< 0.001"),
        (Fraction(99_999, 10**5), "> 0.999"),
        (Absent("too many sums"), "not estimable: too many sums"),
    ],
)
def test_p_value_is_shown_on_its_side_of_the_threshold(p, text):
    """A p-value is never 0 and never crosses 0.05 by being rounded."""
    assert plain(display.p_value(p)) == text


@given(st.fractions(Fraction(1, 10**9), 1))
def test_shown_p_value_decides_as_the_exact_one(p):
    """Reading the shown p against 0.05 gives the answer that the exact p gives."""
    text = plain(display.p_value(p))
    number = Fraction(text.lstrip("<> "))
    assert number > 0
    assert (number <= Fraction(1, 20)) == (p <= Fraction(1, 20))


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (Fraction(7, 2), "USD 3.50"),
        (Fraction(1234567, 100), "USD 12345.67"),
        (Fraction(351, 1000), "USD 0.351"),
        (Fraction(1, 300), "USD 0.00333"),
        (0, "USD 0.00"),
    ],
)
def test_money_keeps_three_digits_below_one(amount, text):
    """Small costs stay apart instead of all reading 0.00."""
    assert plain(display.money(amount, "USD")) == text


@pytest.mark.parametrize("unit", ["ratio", "score", "seconds", "count", "tokens"])
@given(value=st.decimals("0.000000000001", 1, places=12))
def test_a_figure_that_is_not_0_does_not_look_like_0(unit, value):
    """0.04 order violations a run are not none; a whole 0 is (decision 8: never more than the number)."""
    assert re.search("[1-9]", display.in_unit(Fraction(value), unit))
    assert not re.search("[1-9]", display.in_unit(0, unit))


def test_absent_figures_are_words():
    """What does not exist is shown as its reason, never as a number, NaN or None."""
    assert display.absent(AMOUNT_NOT_APPLICABLE) == "amount not applicable"
    assert display.absent(NO_SUCCESS).endswith("no task with a passing run")
    missing = Absent("all tasks have the same value")
    assert display.interval(missing) == "not estimable: all tasks have the same value"
    shown = display.estimate(Estimate(Fraction(1), 3, missing))
    assert plain(shown) == "100.0 % (interval not estimable: all tasks have the same value)"


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9), st.integers(0, 6))
def test_number_is_within_half_of_its_last_decimal(value, decimals):
    """A plain number is off by at most half a unit of the last decimal shown."""
    shown = Fraction(plain(display.number(value, decimals)))
    assert abs(shown - as_written(value)) <= Fraction(1, 2 * 10**decimals)


@given(st.text(), st.integers(2, 40))
def test_text_stays_on_one_line(words, length):
    """No string breaks the line, turns its direction, or grows beyond the length asked for."""
    line = display.text(words, length)
    assert display.columns(line) <= length
    assert len((line + "|").splitlines()) == 1
    assert not re.search("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]", line)


def test_long_names_keep_both_ends():
    """A name is cut in its middle, since what sets rows apart often stands at the end."""
    cut = display.text("a-very-long-model-name · hx-harness 1.0.0 (effort high)", 30)
    assert cut.startswith("a-very-long")
    assert cut.endswith("t high)")
    assert "…" in cut


def test_ideographs_count_twice_where_names_are_cut():
    """A name in wide characters takes no more room than one in narrow ones."""
    assert display.text("医疗智能体模型", 14) == "医疗智能体模型"
    assert display.text("医疗智能体模型", 13) == "医疗智能…模型"


@pytest.mark.parametrize(("words", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b")])
def test_words_are_listed_as_in_a_sentence(words, text):
    """Lists of none, one and several words read as prose."""
    assert display.listed(words) == text


def test_floats_are_the_decimals_a_record_writes():
    """0.3 is three tenths on display, although the double lies below it."""
    assert as_written(0.3) == Fraction(3, 10)
    assert math.floor(Fraction(0.3) * 1000) == 299  # what flooring the double itself would have shown
    assert plain(display.bound(0.3)) == "30.0 %"
