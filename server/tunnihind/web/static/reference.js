// The API reference: folded entries, live answers, and code to copy.

import { enableCopyButtons, pageData, showServerAddress } from "./address.js";

/** @param {Document} page */
function enableUnfolding(page) {
  const folded = () => /** @type {HTMLDetailsElement[]} */ ([...page.querySelectorAll("details.entry")]);
  const showLinked = () => {
    const linked = page.getElementById(location.hash.slice(1));
    const entry = linked?.closest("details");
    if (!linked || !entry || entry.open) return;
    entry.open = true;
    linked.scrollIntoView();
  };
  addEventListener("hashchange", showLinked);
  showLinked();

  /** @type {HTMLDetailsElement[]} */
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = folded().filter((entry) => !entry.open);
    for (const entry of opened) entry.open = true;
  });
  addEventListener("afterprint", () => {
    for (const entry of opened) entry.open = false;
  });

  const button = /** @type {HTMLButtonElement} */ (page.querySelector("[data-unfold]"));
  const labels = [button.textContent, button.dataset.unfold ?? ""];
  let areOpen = false;
  button.addEventListener("click", () => {
    areOpen = !areOpen;
    for (const entry of folded()) entry.open = areOpen;
    button.textContent = labels[Number(areOpen)];
  });
}

const SHOWN_CHARACTERS = 20_000;

const data = pageData(document);

/** Requests a resource, and shows the answer, cut after `SHOWN_CHARACTERS` characters. If there is no usable answer, shows the reason. @param {HTMLElement} box */
async function showAnswer(box) {
  const live = /** @type {HTMLElement} */ (box.querySelector(".live"));
  const status = /** @type {HTMLElement} */ (live.querySelector("[data-status]"));
  const body = /** @type {HTMLElement} */ (live.querySelector("[data-body]"));
  live.hidden = false;
  status.textContent = data.texts.sent;
  try {
    const answer = await fetch(addressToRequest(box), { cache: "no-cache" });
    const text = await answer.text();
    const fields = ["content-type", "etag", "cache-control"].map((name) => `${name}: ${answer.headers.get(name)}`);
    status.textContent = `${answer.status} ${answer.statusText} · ${fields.join(" · ")}`;
    const isJson = (answer.headers.get("content-type") ?? "").includes("json");
    const shown = isJson ? JSON.stringify(JSON.parse(text), null, 2) : text;
    body.textContent = shown.slice(0, SHOWN_CHARACTERS);
  } catch (error) {
    status.textContent = data.texts.failed.replace("{reason}", String(error));
    body.textContent = "";
  }
}

/** @param {HTMLElement} box */
function addressToRequest(box) {
  const query = new URLSearchParams();
  const fields = /** @type {NodeListOf<HTMLInputElement | HTMLSelectElement>} */ (box.querySelectorAll("input, select"));
  for (const field of fields) if (field.value) query.set(field.name, field.value);
  const asked = query.toString();
  return `${box.dataset.try}${asked && `?${asked}`}`;
}

for (const box of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-try]"))) {
  const button = /** @type {HTMLButtonElement} */ (box.querySelector("button"));
  button.hidden = false;
  button.addEventListener("click", () => showAnswer(box));
}
enableUnfolding(document);
showServerAddress(document, data.address);
enableCopyButtons(data.texts);
