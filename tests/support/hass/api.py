"""Home Assistant's interfaces for its owner and its frontend: HTTP and the websocket."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientConnectionError, ClientSession, ClientTimeout

from tests.support.hass.process import HassProcess
from tests.support.machine.processes import PATIENCE_S, until

type Json = Any
"""Any JSON document."""


@dataclass(frozen=True, slots=True)
class State:
    """The state and the attributes of an entity."""

    entity_id: str
    state: str
    attributes: Mapping[str, Json]
    last_changed: str

    @property
    def number(self) -> float:
        return float(self.state)


class HassApi:
    """A client of a Home Assistant that also works after a restart."""

    def __init__(self, process: HassProcess) -> None:
        self.process = process
        self.token = ""

    async def onboard(self) -> None:
        """Become the owner of a fresh Home Assistant, with a token that stays valid however the clock jumps."""
        owner = {"name": "Mari", "username": "mari", "password": "mari", "language": "en"}
        client_id = f"{self.process.url}/"
        code = (await self.post("/api/onboarding/users", owner | {"client_id": client_id}))["auth_code"]
        form = {"grant_type": "authorization_code", "code": code, "client_id": client_id}
        async with self._session() as session, session.post("/auth/token", data=form) as response:
            self.token = (await response.json())["access_token"]
        self.token = await self.command("auth/long_lived_access_token", client_name="tests", lifespan=3650)

    async def until_up(self) -> None:
        """Wait until Home Assistant answers HTTP requests."""

        async def look() -> bool:
            assert self.process.is_running(), self.process.log_of_this_start
            try:
                async with self._session() as session, session.get("/manifest.json") as response:
                    return response.status == 200
            except ClientConnectionError, TimeoutError:
                return False

        assert await until(look, progress=self.process.progress), (
            f"Home Assistant never answered\n{self.process.log_of_this_start}"
        )

    async def until_running(self) -> None:
        """Wait until Home Assistant has set everything up."""

        async def look() -> bool:
            return bool((await self.get("/api/config"))["state"] == "RUNNING")

        await self.until_up()
        assert await until(look, progress=self.process.progress), (
            f"Home Assistant never came to run\n{self.process.log_of_this_start}"
        )

    async def get(self, path: str) -> Json:
        return await self._ask("GET", path)

    async def post(self, path: str, body: Json = None) -> Json:
        return await self._ask("POST", path, body)

    async def delete(self, path: str) -> Json:
        return await self._ask("DELETE", path)

    async def command(self, kind: str, **fields: Json) -> Json:
        """Send a command over the websocket and return its result."""
        async with self._session() as session, session.ws_connect("/api/websocket") as socket:
            await socket.receive_json()
            await socket.send_json({"type": "auth", "access_token": self.token})
            assert (await socket.receive_json())["type"] == "auth_ok"
            await socket.send_json({"id": 1, "type": kind, **fields})
            answer = await socket.receive_json()
        assert answer["success"], answer
        return answer["result"]

    async def state(self, entity_id: str) -> State | None:
        """Return the state of an entity, or None if the entity does not exist."""
        return next((state for state in await self.states() if state.entity_id == entity_id), None)

    async def shows(self, entity_id: str) -> str:
        """Return the state of an existing entity."""
        state = await self.state(entity_id)
        assert state is not None, f"there is no {entity_id}"
        return state.state

    async def states(self) -> list[State]:
        return [
            State(each["entity_id"], each["state"], each["attributes"], each["last_changed"])
            for each in await self.get("/api/states")
        ]

    async def until_state(
        self, entity_id: str, holds: Callable[[State], object], *, within: float = PATIENCE_S, say: str = ""
    ) -> State:
        """Return the first state of an entity that meets a condition. Fails if there is no such state in time."""
        last: list[State | None] = []

        async def look() -> State | None:
            last[:] = [await self.state(entity_id)]
            return last[0] if last[0] is not None and holds(last[0]) else None

        found = await until(look, within=within, progress=self.process.progress)
        assert found is not None, f"{entity_id} never came to {say or 'what was awaited'}; last: {last}"
        return found

    async def template(self, text: str) -> str:
        """Return the result of a template."""
        async with self._session() as session, session.post("/api/template", json={"template": text}) as response:
            assert response.status == 200, await response.text()
            return await response.text()

    async def call(self, action: str, **data: Json) -> Json:
        """Perform an action (`domain.name`) and return its response, or None."""
        domain, _, service = action.partition(".")
        services = await self.get("/api/services")
        described = next(each["services"][service] for each in services if each["domain"] == domain)
        query = "?return_response" if "response" in described else ""
        answer = await self.post(f"/api/services/{domain}/{service}{query}", data)
        return answer["service_response"] if query else None

    async def flow(self, handler: Json, *answers: Json, kind: str = "flow") -> Json:
        """Start a flow, submit its steps, and return the outcome of the last step.

        `kind` is `flow`, `options/flow` (handler: the entry) or `subentries/flow` (handler: entry and type).
        """
        path = f"/api/config/config_entries/{kind}"
        outcome = await self.post(path, {"handler": handler})
        for answer in answers:
            outcome = await self.post(f"{path}/{outcome['flow_id']}", answer)
        return outcome

    async def add_helper(self, domain: str, name: str) -> str:
        """Add a helper as the helpers' page does, and return its entity."""
        await self.command(f"{domain}/create", name=name)
        entity_id = f"{domain}.{name.lower()}"
        await self.until_state(entity_id, bool)
        return entity_id

    async def add_automation(self, name: str, **automation: Json) -> str:
        """Add an automation as the editor does, and return its entity."""
        await self.post(f"/api/config/automation/config/{name}", {"alias": name, **automation})
        await self.until_state(f"automation.{name}", lambda state: state.state == "on")
        return f"automation.{name}"

    def _session(self) -> ClientSession:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return ClientSession(self.process.url, headers=headers, timeout=ClientTimeout(total=PATIENCE_S))

    async def _ask(self, method: str, path: str, body: Json = None) -> Json:
        async with self._session() as session, session.request(method, path, json=body) as response:
            assert response.ok, f"{method} {path}: {response.status} {await response.text()}"
            return await response.json()
