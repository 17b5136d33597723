"""From the sources to the store and from the store to a forecast, and when to do what."""
