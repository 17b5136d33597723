// How long it is until the next period begins, in full minutes; without a script the page gives the time instead.

const MINUTE_S = 60;
let timer = 0;

/** Says it now and with each minute. @param {import("./backdrop.js").Scene} scene */
export function countDown(scene) {
  clearTimeout(timer);
  const place = /** @type {HTMLElement | null} */ (document.querySelector("[data-next-start]"));
  if (!place) return;
  const left = Number(place.dataset.nextStart) - scene.now();
  const minutes = Math.max(1, Math.ceil(left / MINUTE_S));
  place.textContent = scene.wording.say("startsIn", { n: String(minutes) });
  timer = setTimeout(() => countDown(scene), (MINUTE_S - (scene.now() % MINUTE_S)) * 1000);
}
