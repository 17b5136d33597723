// Buttons that copy the code beside them.

/** @param {Record<string, string>} texts */
export function letCopy(texts) {
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-copy]"))) {
    // Outside https and localhost browsers have no clipboard to write to: the code can still be selected.
    if (!navigator.clipboard) continue;
    button.hidden = false;
    const label = button.textContent;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.parentElement?.querySelector("code")?.textContent ?? "");
      button.textContent = texts.copied;
      setTimeout(() => (button.textContent = label), 2000);
    });
  }
}
