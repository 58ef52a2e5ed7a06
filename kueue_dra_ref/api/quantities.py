"""Kubernetes quantities: the grammar, int64 saturation, and the canonical print (apimachinery `resource.Quantity`)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache

MAX_INT64 = 2**63 - 1
MIN_INT64 = -(2**63)

_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
# Kubernetes takes a number without digits for 0, unless it computes it the long way: "m", "Ti" and "+" are quantities,
# "Pi" is not. An exponent of five digits would be one too, but too large to add up.
_GRAMMAR = re.compile(
    r"(?=.)(?![+-]?\.?(?:[PE]i|[eE]-[0-9]{2}))(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?"
    r"(?:(?P<binary>[KMGTPE]i)|(?P<exponent>[eE][+-]?[0-9]{1,4})|(?P<decimal>[numkMGTPE]?))"
)
_MAX_DIGITS = 18
_MOST_CHARACTERS = 4000
"""Python reads no number that is much longer."""
_MOST_SHOWN = 100


class Format(Enum):
    """How a quantity is printed: in powers of 1000, of 1024, or with an exponent."""

    DECIMAL = "DecimalSI"
    BINARY = "BinarySI"
    EXPONENT = "DecimalExponent"


class BadQuantity(ValueError):
    """The text is not a quantity."""

    def __init__(self, text: str) -> None:
        shown = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
        super().__init__(
            f"{shown!r} is not a quantity; expected a number with an optional suffix such as 500m, 2 or 80Gi"
        )
        self.text = text


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """An exact amount and the format it was written in; equality by `amount` is left to the caller."""

    amount: Fraction
    format: Format = Format.DECIMAL

    @property
    def ceiling(self) -> int:
        """The amount in whole units, fractions rounded up, clamped to int64."""
        return clamp(-((-self.amount.numerator) // self.amount.denominator))

    @property
    def milli(self) -> int:
        """The amount in thousandths, rounded up, clamped to int64."""
        scaled = self.amount * 1000
        return clamp(-((-scaled.numerator) // scaled.denominator))

    @property
    def approximate(self) -> float:
        """The amount as a float, infinite beyond its range."""
        try:
            return float(self.amount)
        except OverflowError:
            return math.inf if self.amount > 0 else -math.inf

    def __str__(self) -> str:
        if (
            self.format is Format.BINARY
            and self.amount.denominator == 1
            and abs(self.amount) >= 1024
        ):
            return _binary(self.amount.numerator)
        return _decimal(self.amount, "e{}" if self.format is Format.EXPONENT else None)


def clamp(value: int) -> int:
    """Saturate to int64, as Kueue's arithmetic does."""
    if MIN_INT64 <= value <= MAX_INT64:
        return value
    return MAX_INT64 if value > 0 else MIN_INT64


@lru_cache(maxsize=4096)
def parse(text: str | int | float) -> Quantity:
    """Read a quantity; YAML numbers are taken as their text.

    Raises:
        BadQuantity: the text does not follow the quantity grammar.

    """
    match = _match(text)
    number = Fraction(f"{match['sign']}{match['whole'] or 0}.{match['part'] or 0}")
    if match["binary"]:
        amount = _finest(number * 1024 ** _BINARY[match["binary"]])
        bounded = max(Fraction(-MAX_INT64), min(Fraction(MAX_INT64), amount))
        return Quantity(
            amount=bounded,
            format=Format.DECIMAL if 0 < abs(bounded) < 1 else Format.BINARY,
        )
    if match["exponent"]:
        return Quantity(
            amount=_finest(number * Fraction(10) ** int(match["exponent"][1:])),
            format=Format.EXPONENT,
        )
    return Quantity(amount=_finest(number * Fraction(10) ** _DECIMAL[match["decimal"]]))


def shows_its_integer(text: str) -> bool:
    """Tell whether Kubernetes, given this text, sees the integer that the amount is; of 1000m and 100Ti it does not.

    A fraction shows no integer, however written: that is the truth, and the answer is yes.

    Raises:
        BadQuantity: the text does not follow the quantity grammar.

    """
    if parse(text).amount.denominator != 1:
        return True
    match = _match(text)
    digits, part = len(match["whole"].lstrip("0") or "0"), len(match["part"] or "")
    if match["binary"]:
        return not part and digits + 3 * _BINARY[match["binary"]] < 15
    power = (
        int(match["exponent"][1:]) if match["exponent"] else _DECIMAL[match["decimal"]]
    )
    return digits + part <= _MAX_DIGITS and power >= part


def whole(value: int, form: Format = Format.DECIMAL) -> Quantity:
    """Give a quantity of ``value`` units."""
    return Quantity(amount=Fraction(value), format=form)


def _match(text: str | int | float) -> re.Match[str]:
    match = _GRAMMAR.fullmatch(str(text))
    if match is None or len(str(text)) > _MOST_CHARACTERS:
        raise BadQuantity(str(text))
    return match


def in_thousandths(text: str) -> str:
    """Round an amount up to what an API server stores of it in a pod.

    Raises:
        BadQuantity: the text does not follow the quantity grammar.

    """
    quantity = parse(text)
    rounded = _rounded(quantity.amount, 3)
    return (
        text
        if rounded == quantity.amount
        else str(Quantity(amount=rounded, format=quantity.format))
    )


def _finest(amount: Fraction) -> Fraction:
    """Round up to nano, the finest that Kubernetes keeps."""
    return _rounded(amount, 9)


def _rounded(amount: Fraction, digits: int) -> Fraction:
    """Round away from zero, to so many digits of the fraction."""
    scaled = amount * 10**digits
    if scaled.denominator == 1:
        return amount
    rounded = -((-abs(scaled).numerator) // scaled.denominator)
    return Fraction(rounded if amount > 0 else -rounded, 10**digits)


def _binary(value: int) -> str:
    for suffix, power in reversed(_BINARY.items()):
        if value and value % 1024**power == 0:
            return f"{value // 1024**power}{suffix}"
    return str(value)


def _decimal(amount: Fraction, exponent: str | None) -> str:
    finest = -min(_DECIMAL.values())
    scaled = int(amount * 10**finest)
    if not scaled:
        return "0"
    for suffix, power in _LARGEST_FIRST:
        units, left = divmod(scaled, 10 ** (power + finest))
        if left:
            continue
        if exponent is None:
            return f"{units}{suffix}"
        if power:
            return f"{units}{exponent.format(power)}"
        return str(units)
    return "0"


_LARGEST_FIRST = sorted(_DECIMAL.items(), key=lambda item: -item[1])
