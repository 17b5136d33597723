"""Words of this server that its descriptions hold: the VAT rate and the credit to give."""

from collections.abc import Mapping

from tunnihind.settings import Settings


def description_words(settings: Settings) -> Mapping[str, str]:
    """Return what stands for the `$words` of descriptions on this server."""
    return {
        "vat": vat_text(settings.vat_rate),
        "factor": f"{1 + settings.vat_rate:.6g}",
        "attribution": settings.attribution_text,
    }


def vat_text(rate: float) -> str:
    """Write a VAT rate as people do, `22%`."""
    return f"{rate * 100:.4g}%"
