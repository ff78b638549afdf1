// Texts to copy.

/** Puts a button before each text to copy. */
function offerCopies() {
  for (const text of document.querySelectorAll(".copied")) {
    const offer = button("Copy", async () => {
      offer.textContent = (await copy(text)) ? "Copied" : "Selected";
      setTimeout(() => (offer.textContent = "Copy"), 2000);
    });
    const controls = document.createElement("div");
    controls.className = "controls";
    controls.append(offer);
    text.before(controls);
  }
}

/** Copies a text, or selects it where a browser forbids that. Returns true if it was copied. */
async function copy(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(element);
    return false;
  }
}
