"""Helpers that tests share. No tests here; fixtures are in the `conftest.py` above those who use them.

- `clocks`, `documents`, `commands`, `scripts`: time that a test passes on, and the project's own texts and scripts.
- `shared_rules`: cases on which server, page and integration must agree.
- `upstreams`: local servers in place of the real ones, objects that say what a test scripts, and wrong answers.
- `markets`, `store`, `api`, `pages`, `machine`: the parts of the server and the machine.
- `household`: the integration in Home Assistant's test environment; `hass`: a real Home Assistant.
"""
