"""The README's code blocks, so that tests can run what it tells people to do."""

import re
from pathlib import Path

_README = Path(__file__).parents[1] / "README.md"


def blocks(language: str) -> list[str]:
    """Return the code blocks of a language in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", _README.read_text(), re.MULTILINE | re.DOTALL)
