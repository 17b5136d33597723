"""A real Home Assistant in its own process, with the integration and a real server.

Both use one shifted clock (`shifted_clock.py`, libfaketime), so that days pass in seconds. Only the wall clock is
shifted. Running timers keep to the elapsed time, as on any machine whose clock is set.

A test has two ways to come to an instant. `RealHome.come_to` sets the clock to some seconds before the instant and
reloads the integration. `RealHome.restart_home_assistant` stops Home Assistant, sets the clock and starts Home
Assistant again. In both cases Home Assistant's own timers then wait for the instant, as they would in a home.
"""
