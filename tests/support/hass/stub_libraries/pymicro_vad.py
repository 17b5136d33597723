"""A stub for a library of Home Assistant's voice assistant, because the real one would need a compiler."""


class MicroVad:
    """A stub; the real class detects speech."""
