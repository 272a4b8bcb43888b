"""How numbers and spec fields read in a report: one place for every unit and every dash."""

from __future__ import annotations

NARROW = "\u202f"
MINUS = "\u2212"


def percent(share: float | None) -> str:
    """Return a share of 1 as whole per cent.

    Examples:
        >>> percent(0.724).replace(NARROW, " ")
        '72 %'
    """
    return "–" if share is None else f"{100 * share:.0f}{NARROW}%"


def points(share: float | None, *, signed: bool = True) -> str:
    """Return a difference of shares in percentage points, without the word.

    Examples:
        >>> points(0.412), points(-0.03), points(0.001)
        ('+41', '−3', '0')
    """
    if share is None:
        return "–"
    rounded = round(100 * share)
    sign = MINUS if rounded < 0 else "+" if rounded > 0 and signed else ""
    return f"{sign}{abs(rounded)}"


def tenths(share: float | None) -> str:
    """Return a share of 1 in per cent with one decimal, without the sign.

    Examples:
        >>> tenths(0.7243), tenths(None)
        ('72.4', '–')
    """
    return "–" if share is None else f"{100 * share:.1f}"


def signed_tenths(share: float | None) -> str:
    """Return a difference of shares in percentage points with one decimal.

    Examples:
        >>> signed_tenths(0.0417), signed_tenths(-0.03), signed_tenths(0.0001)
        ('+4.2', '−3.0', '0.0')
    """
    if share is None:
        return "–"
    rounded = round(100 * share, 1)
    sign = MINUS if rounded < 0 else "+" if rounded > 0 else ""
    return f"{sign}{abs(rounded):.1f}"


def signed_count(number: float | None) -> str:
    """Return a difference of counts with its sign where it is below zero.

    Examples:
        >>> signed_count(-1234.0).replace(NARROW, " "), signed_count(12.0)
        ('−1 234', '12')
    """
    if number is None:
        return "–"
    return count(number) if number >= 0 else MINUS + count(-number)


def spread_points(sd: float | None) -> str:
    """Return a standard deviation of shares in points, with one decimal.

    Examples:
        >>> spread_points(0.0412), spread_points(None)
        ('±4.1', '')
    """
    return "" if sd is None else f"±{100 * sd:.1f}"


def count(number: float | None) -> str:
    """Return a count with narrow spaces between thousands, and a decimal only below ten.

    Examples:
        >>> count(12345.6).replace(NARROW, " "), count(2.5), count(3.0)
        ('12 346', '2.5', '3')
    """
    if number is None:
        return "–"
    whole = abs(number - round(number)) < 0.05 or abs(number) >= 10
    return f"{number:,.{0 if whole else 1}f}".replace(",", NARROW)


def per_unit(number: float | None) -> str:
    """Return a rate with two decimals below ten.

    Examples:
        >>> per_unit(1.194), per_unit(31.2)
        ('1.19', '31.2')
    """
    return "–" if number is None else f"{number:.{2 if abs(number) < 10 else 1}f}"


def duration(seconds: float | None) -> str:
    """Return seconds for people.

    Examples:
        >>> [duration(value).replace(NARROW, " ") for value in (0.42, 7.04, 96.0, 4000.0)]
        ['0.42 s', '7.0 s', '1 min 36 s', '1 h 6 min']
    """
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.{2 if seconds < 1 else 1 if seconds < 10 else 0}f}{NARROW}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}{NARROW}min {rest}{NARROW}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}{NARROW}h {minutes}{NARROW}min"


def p_value(value: float) -> str:
    """Return a p-value as journals print it.

    Examples:
        >>> p_value(0.00002), p_value(0.0312), p_value(0.4)
        ('p < 0.001', 'p = 0.031', 'p = 0.40')
    """
    if value < 0.001:
        return "p < 0.001"
    return f"p = {value:.3f}" if value < 0.1 else f"p = {value:.2f}"


def plural(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    Examples:
        >>> plural(1, "seed"), plural(3, "seed"), plural(2, "query", "queries")
        ('1 seed', '3 seeds', '2 queries')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def listing(words: list[str]) -> str:
    """Return words as a phrase.

    Examples:
        >>> listing(["a", "b", "c"])
        'a, b and c'
    """
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + words[-1]
