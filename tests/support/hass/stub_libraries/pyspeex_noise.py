"""Replaces a library of Home Assistant's voice assistant that has only sources, so no compiler is needed."""


class AudioProcessor:
    """The real class removes noise from speech; the tests' Home Assistant gets none."""
