"""What is PostgreSQL's own: its connections, and who may do what in it."""

from tests.support.stores import DAY, run, whole_day
from tunnihind.store.store import Store

SEEN = 1_765_713_600


def test_a_new_database_gets_its_tables_and_keeps_what_is_written(postgresql_url: str) -> None:
    with Store(postgresql_url) as store:
        store.prices.add(whole_day(DAY), source="a", seen_ts=SEEN)
        store.runs.add(run(SEEN))
    with Store(postgresql_url, read_only=True) as store:
        assert store.prices.count() == 96
        assert [found.made_at for found in store.runs.since(0)] == [SEEN]


def test_an_address_without_a_driver_takes_the_one_that_the_extra_installs(postgresql_url: str) -> None:
    with Store(postgresql_url.replace("+psycopg", "")) as store:
        assert store.prices.count() == 0
