"""The served files of the records of months."""

import pytest

from tests.support.api.api_server import Serve
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import ESTONIA
from tunnihind.settings import Settings
from tunnihind.store.records import MonthRecord

RECORD = MonthRecord("ee", "2025-10", "forecasts\n", "scores\n", "checksums\n")


def find(month: str) -> MonthRecord | None:
    return RECORD if month == RECORD.month else None


@pytest.mark.parametrize(
    ("name", "body", "kind"),
    [
        ("2025-10.csv", b"forecasts\n", "text/csv"),
        ("2025-10-scores.csv", b"scores\n", "text/csv"),
        ("2025-10.sha256", b"checksums\n", "text/plain"),
    ],
)
async def test_a_file_may_be_kept_for_ever(serve: Serve, name: str, body: bytes, kind: str) -> None:
    server = await serve(find_record=find)
    answer = await server.ask(f"/accuracy/{name}")
    assert (answer.status, answer.body) == (200, body)
    assert answer.headers["Content-Type"] == f"{kind}; charset=utf-8"
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert (await server.ask(f"/accuracy/{name}", f"If-None-Match: {answer.headers['ETag']}")).status == 304
    assert (await server.ask(f"/accuracy/{name}", method="HEAD")).body == b""


async def test_a_demos_files_are_not_kept_for_ever(serve: Serve) -> None:
    answer = await (await serve(find_record=find, mode="demo")).ask("/accuracy/2025-10.csv")
    assert "immutable" not in answer.headers["Cache-Control"]


async def test_a_month_without_a_record_is_not_found(serve: Serve) -> None:
    answer = await (await serve(find_record=find)).ask("/accuracy/2025-09.csv")
    assert answer.status == 404
    assert b"There is no record of 2025-09" in answer.body
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("name", ["2025-1.csv", "2025-10.csvx", "2025-10.json", "../2025-10.csv", "x"])
async def test_other_names_are_not_found(serve: Serve, name: str) -> None:
    assert (await (await serve(find_record=find)).ask(f"/accuracy/{name}")).status == 404


async def test_each_zone_has_its_files_at_its_own_address(serve: Serve) -> None:
    server = await serve(find_record=find, settings=Settings(zones=("ee", "lv")))
    assert (await server.ask("/lv/accuracy/2025-10.csv")).status == 200


@pytest.mark.parametrize("lang", ["en", "et", "ru"])
async def test_the_page_lists_the_records_newest_first(serve: Serve, lang: str) -> None:
    data = ServedData("1", ESTONIA, recorded_months=("2025-09", "2025-10"))
    html = (await (await serve(data)).ask(f"/accuracy?lang={lang}")).body.decode()
    files = [f"accuracy/2025-{month}{end}" for month in ("10", "09") for end in (".csv", "-scores.csv", ".sha256")]
    places = [html.index(f'href="{file}"') for file in files]
    assert places == sorted(places)


async def test_without_records_the_page_says_nothing_of_them(serve: Serve) -> None:
    assert ".sha256" not in (await (await serve(ServedData("1", ESTONIA))).ask("/accuracy")).body.decode()
