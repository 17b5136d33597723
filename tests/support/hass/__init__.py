"""A real Home Assistant in its own process, with the integration, beside a real server.

Both use one shifted clock (`shifted_clock.py`, libfaketime), so that days pass in seconds. Only the wall clock is
shifted. Timers that already run keep to the time that elapses, as on any machine whose clock is set. There are two
ways to come to an instant: set the clock to some seconds before it and reload the integration (`RealHome.come_to`),
or stop Home Assistant, set the clock and start it again (`RealHome.restart_home_assistant`). Then Home Assistant's
own timers wait for the instant, as they would in a home.
"""
