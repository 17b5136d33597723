"""Stands in for a library of Home Assistant's voice assistant that there are only sources of: no compiler is needed."""


class AudioProcessor:
    """Would take the noise out of speech; nobody speaks to the Home Assistant of the tests."""
