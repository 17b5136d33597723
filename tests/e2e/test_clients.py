"""Other programs as clients of a server on a real socket: curl, and a browser on another origin."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from playwright.async_api import Page

from tests.support.api.api_server import RunningServer, Serve
from tests.support.pages.browser import chromium


@pytest.fixture
async def server(serve: Serve) -> RunningServer:
    return await serve()


async def curl(*arguments: str) -> bytes:
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    process = await asyncio.create_subprocess_exec("curl", "--silent", *arguments, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    assert process.returncode == 0
    return output


async def test_curl_gets_the_same_body_plain_and_compressed(server: RunningServer) -> None:
    url = f"http://127.0.0.1:{server.port}/api/v1/forecast"
    plain, compressed = await curl(url), await curl("--compressed", url)
    assert json.loads(plain) == json.loads(compressed)
    assert json.loads(plain)["zone"] == "EE"


async def test_curl_with_the_etag_it_got_gets_304(server: RunningServer) -> None:
    url = f"http://127.0.0.1:{server.port}/api/v1/forecast"
    etag = (await server.ask("/api/v1/forecast")).headers["ETag"]
    status = await curl(
        "--output", "/dev/null", "--write-out", "%{http_code} %{size_download}", "-H", f"If-None-Match: {etag}", url
    )
    assert status == b"304 0"


@pytest.fixture
async def foreign_page() -> AsyncIterator[Page]:
    """Return a browser's page from an origin that is not the server's."""

    async def empty_page(_request: web.Request) -> web.Response:
        return web.Response(text="<!doctype html><title>elsewhere</title>", content_type="text/html")

    app = web.Application()
    app.router.add_get("/", empty_page)
    runner = web.AppRunner(app)
    async with chromium() as browser:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        page = await browser.new_page()
        await page.goto(f"http://127.0.0.1:{runner.addresses[0][1]}/")
        yield page
    await runner.cleanup()


FETCH = """async ([url, options]) => {
    const answer = await fetch(url, options);
    const isJson = (answer.headers.get('content-type') || '').includes('json');
    return {status: answer.status, etag: answer.headers.get('etag'), body: isJson ? await answer.json() : null};
}"""


async def fetch(page: Page, url: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401  fetch's own options
    answer: dict[str, Any] = await page.evaluate(FETCH, [url, options])
    return answer


async def test_a_browser_on_another_origin_reads_prices_and_errors(server: RunningServer, foreign_page: Page) -> None:
    url = f"http://127.0.0.1:{server.port}/api/v1/forecast"
    answer = await fetch(foreign_page, url)
    assert answer["status"] == 200
    assert answer["body"] == json.loads((await server.ask("/api/v1/forecast")).body)
    refused = await fetch(foreign_page, f"{url}?zone=EE")
    assert (refused["status"], refused["body"]["status"]) == (400, 400)


async def test_a_browser_on_another_origin_may_ask_conditionally(server: RunningServer, foreign_page: Page) -> None:
    # An extra header makes the browser send a preflight request first, and the answer's ETag must be readable.
    url = f"http://127.0.0.1:{server.port}/api/v1/forecast"
    etag = (await fetch(foreign_page, url))["etag"]
    assert etag is not None
    again = await fetch(foreign_page, url, headers={"If-None-Match": etag}, cache="no-store")
    assert again["status"] == 304
