"""Helpers that tests share. No tests here; fixtures are in the `conftest.py` above those who use them.

- Time: `clocks` (passed in), `shifted_clock` (of real processes).
- Sources: `upstreams` (local servers in place of the real ones), `sources` (objects that say what a test scripts).
- Prices and forecasts: `sample_prices`, `day_quotes`, `sample_views` (what pages show), and two markets with planted
  truths for the model, `simulated_history` and `windy_market`.
- Store and pipeline: `stores`, `store_process` (another process on the same database), `pipelines`, `ingest_trial`.
- The server: `api_server` (within a test), `processes` (real ones), `discovery` (a client on the local network).
- Pages: `browser`, `node`.
- The integration: `home` (Home Assistant's test environment), `recording_proxy`, `state_changes`, `automations`,
  `flows`, `translations`, `api_documents`; for its pure code `timelines`, `price_strategies`, `plan_days`, `savings`;
  and `hass`, a real Home Assistant.
- What several programs have to agree on: `shared_rules`. Documents and scripts: `documents`, `scripts`.
"""
