"""How colours look to the colour-blind, how much they differ, and how readable text is on them."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

type Colour = NDArray[np.float64]
"""Linear RGB, each from 0 to 1."""

VISIONS: Final = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
"""Matrices of linear RGB for each kind of vision: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, 2009, severity
1."""

_LMS: Final = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB: Final = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def colour(code: str) -> Colour:
    """Return a colour of a style sheet, as `#fff` or `#0b5fad` (the transfer function of sRGB, IEC 61966-2-1)."""
    digits = code.removeprefix("#")
    pairs = [2 * digit for digit in digits] if len(digits) == 3 else [digits[i : i + 2] for i in (0, 2, 4)]
    encoded = np.array([int(pair, 16) / 255 for pair in pairs])
    linear: Colour = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    return linear


def oklab(seen: Colour) -> Colour:
    """Return lightness, green to red and blue to yellow in a space of even distances (B. Ottosson, 2020: OKLab)."""
    lab: Colour = _LAB @ np.cbrt(_LMS @ np.clip(seen, 0, 1))
    return lab


def distance(one: Colour, other: Colour, vision: str) -> float:
    """Return how much two colours differ for the eye: 0.02 can just be seen, black and white differ by 1."""
    matrix = VISIONS[vision]
    return float(np.linalg.norm(oklab(matrix @ one) - oklab(matrix @ other)))


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast of text and background (WCAG 2.2, contrast ratio)."""
    dark, light = sorted(float(np.dot([0.2126, 0.7152, 0.0722], each)) for each in (one, other))
    return (light + 0.05) / (dark + 0.05)
