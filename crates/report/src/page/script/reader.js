// What the reader did to the page of a running run. The next page of the run, which replaces it, takes it over.

/** Returns the name of a section: the number of its group and its heading. */
function nameOf(section) {
  const groups = [...document.querySelectorAll(".group")];
  return `${groups.indexOf(section.closest(".group"))} ${section.querySelector("h2").textContent}`;
}

/** Returns the section with a name, or the whole page if there is none. */
function sectionOf(name) {
  return [...document.querySelectorAll("section")].find((section) => nameOf(section) === name) ?? document.documentElement;
}

/** Returns the section at the top of the view, with the height of its beginning in the view. */
function positionOfReader() {
  const above = [...document.querySelectorAll("section")].filter((section) => section.getBoundingClientRect().top <= 0);
  const section = above.at(-1);
  return { section: section && nameOf(section), top: (section ?? document.documentElement).getBoundingClientRect().top };
}

/** Returns the folded parts of the page with their names. */
function foldedParts() {
  return [...document.querySelectorAll("section")].flatMap((section) => {
    return [...section.querySelectorAll("details")].map((part, at) => [`${nameOf(section)} ${at}`, part]);
  });
}

/** Leaves the page as the reader left the page before it, if there was one, and tells the next one how it is. */
function keepReader(tables, pictures) {
  const before = globalThis.tunesmithReader?.before;
  if (before) {
    const folded = new Map(before.folded);
    for (const [name, part] of foldedParts()) part.open = folded.get(name) ?? part.open;
    const pictured = new Map(before.pictures);
    for (const picture of pictures) picture.kept = pictured.get(picture.key()) ?? {};
    tables.forEach((table, at) => before.tables[at] && table.choose(before.tables[at]));
    scrollBy(0, sectionOf(before.position.section).getBoundingClientRect().top - before.position.top);
  }
  const now = () => ({
    folded: foldedParts().map(([name, part]) => [name, part.open]),
    pictures: pictures.map((picture) => [picture.key(), { ...picture.kept, ...picture.chosen }]),
    tables: tables.map((table) => table.chosen()),
    position: positionOfReader(),
  });
  globalThis.tunesmithReader = { now };
}
