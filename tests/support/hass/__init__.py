"""A real Home Assistant as a process of its own, with the integration, beside a real server.

Both live by one shifted clock (`shifted_clock.py`, libfaketime), so that days pass in seconds. Only the wall clock is
shifted: timers that already run keep to the time that elapses, as on any machine whose clock is set. So a test comes to
an instant by setting the clock to some seconds before it and reloading the integration (`House.come_to`), or by
stopping Home Assistant, setting the clock and starting it (`House.restart_home_assistant`); then the instant itself is
waited for, by the timers that a home's Home Assistant would wait by.
"""
