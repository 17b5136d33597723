"""Helpers for several test modules.

This package has no tests. Fixtures are in the `conftest.py` above their tests.

- `clocks`, `documents`, `commands`, `scripts`: clocks that a test sets, and the project's texts and scripts.
- `shared_rules`: cases on which JavaScript and Python must agree.
- `upstreams`: local servers in place of the real ones, scripted sources, and wrong answers.
- `markets`, `store`, `api`, `pages`, `machine`: the parts of the server and the machine.
- `household`: the integration in Home Assistant's test environment; `hass`: a real Home Assistant.
"""
