"""The colours and the letters of a report, for light and for dark; `page.css` has the same ones."""

from __future__ import annotations

from dataclasses import dataclass

FONT = "Inter, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', 'Liberation Sans', sans-serif"


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """One set of colours. `palette` is safe for the colour-blind, `baseline` a quiet grey."""

    name: str
    paper: str
    ink: str
    muted: str
    line: str
    baseline: str
    palette: tuple[str, ...]


LIGHT = Theme(
    name="light",
    paper="#ffffff",
    ink="#16202b",
    muted="#5b6773",
    line="#e3e7ec",
    baseline="#7a8591",
    palette=("#0b62a8", "#c8501b", "#00866a", "#a1478a", "#8a6a00", "#3a9bd4"),
)
DARK = Theme(
    name="dark",
    paper="#171d25",
    ink="#e8edf2",
    muted="#9aa7b4",
    line="#2b343f",
    baseline="#93a0ad",
    palette=("#64b5f6", "#ff9361", "#3fd0a8", "#e59ad0", "#e6c04a", "#a5dcff"),
)
THEMES = (LIGHT, DARK)
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (9, 3), (2, 2), (9, 3, 2, 3))
BASELINE_DASH = (5, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """How one method is drawn: a colour for each theme, and a dash."""

    label: str
    light: str
    dark: str
    dash: tuple[int, ...]

    def colour(self, theme: Theme) -> str:
        """Return the colour under a theme."""
        return self.dark if theme is DARK else self.light


def strokes(
    labels: tuple[str, ...], *, baselines: frozenset[str], leading: str | None = None
) -> tuple[Stroke, ...]:
    """Give every label its stroke: the first baseline is grey, the leading one has the accent.

    Beyond six coloured labels the colours come round again, dashed.
    """
    grey = next((label for label in labels if label in baselines and label != leading), None)
    coloured = sorted((x for x in labels if x != grey), key=lambda label: label != leading)
    drawn = {label: _stroke(label, place) for place, label in enumerate(coloured)}
    if grey is not None:
        drawn[grey] = Stroke(
            label=grey, light=LIGHT.baseline, dark=DARK.baseline, dash=BASELINE_DASH
        )
    return tuple(drawn[label] for label in labels)


def _stroke(label: str, place: int) -> Stroke:
    turn, colour = divmod(place, len(LIGHT.palette))
    return Stroke(
        label=label,
        light=LIGHT.palette[colour],
        dark=DARK.palette[colour],
        dash=DASHES[turn % len(DASHES)],
    )
