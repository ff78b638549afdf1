// Fills the places of the page.

/** Draws each picture when it comes near the view, all of them before printing, and again in a new mode. */
function watch(pictures) {
  const byElement = new Map(pictures.map((picture) => [picture.element, picture]));
  // One after the other: the first is on the screen while the next is drawn.
  let last = Promise.resolve();
  const shown = () => new Promise((resolve) => setTimeout(resolve));
  const draw = (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      last = last.then(() => byElement.get(target).draw()).then(shown);
    }
  };
  const observer = new IntersectionObserver(draw, { rootMargin: "300px" });
  pictures.forEach((picture) => observer.observe(picture.element));
  DARK.addEventListener("change", () => pictures.forEach((picture) => picture.refresh()));
  window.addEventListener("beforeprint", () => pictures.forEach((picture) => picture.draw()));
}

async function main() {
  offerCopies();
  const library = loadPlotly();
  const runs = await readRuns();
  const places = [...document.querySelectorAll("[data-picture]")];
  const pictures = places.map((element) => new Picture(element, runs));
  const tables = [...document.querySelectorAll("[data-table]")].map((element) => {
    const run = runs[element.dataset.table];
    const linked = pictures.filter(({ name, runs: [own] }) => name === "parallel" && own === run);
    const redraw = () => linked.forEach((picture) => picture.refresh());
    return new EvaluationTable(element, run, redraw);
  });
  keepReader(tables, pictures);
  await library;
  watch(pictures);
}

main().catch((error) => {
  console.error(error);
  for (const plot of document.querySelectorAll(".plot")) {
    plot.textContent = "The pictures need a newer browser, with DecompressionStream.";
  }
});
