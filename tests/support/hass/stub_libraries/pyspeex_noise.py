"""A stub for a library of Home Assistant's voice assistant, because the real one would need a compiler."""


class AudioProcessor:
    """A stub; the real class removes noise from speech."""
