// Draws every picture of a report, then looks at the page as a reader would. Returns what it found.
(async () => {
  const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
  for (const picture of document.querySelectorAll("[data-picture]")) {
    picture.scrollIntoView();
    while (!["drawn", "failed"].includes(picture.dataset.state)) await pause();
  }
  document.querySelectorAll("details").forEach((details) => (details.open = true));
  await pause();

  /** Returns red, green, blue and opacity of a colour of CSS. */
  const parts = (colour) => {
    const numbers = (colour.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    return [...numbers.slice(0, 3), numbers[3] ?? 1];
  };
  /** Returns the colour `over` as seen on an opaque colour. */
  const blend = (over, under) => [0, 1, 2].map((at) => over[at] * over[3] + under[at] * (1 - over[3])).concat(1);
  const background = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(parts(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, over) => blend(over, under), [255, 255, 255, 1]);
  };
  const luminance = (colour) => {
    const linear = colour.slice(0, 3).map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const contrast = (a, b) => {
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
  };

  let texts = 0;
  const faint = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const isText = walker.currentNode.data.trim() && !element.closest("script, style, noscript, option");
    if (!isText || !element.checkVisibility({ visibilityProperty: true })) continue;
    const style = getComputedStyle(element);
    const colour = parts(element.closest("svg") ? style.fill : style.color);
    const under = background(element);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = contrast(blend(colour, under), under);
    texts += 1;
    if (ratio < (isLarge ? 3 : 4.5)) faint.add(`${walker.currentNode.data.trim().slice(0, 40)}: ${ratio.toFixed(2)}`);
  }

  const wide = [...document.body.querySelectorAll("*")]
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !element.closest(".scroll, .copied, svg"))
    .map((element) => element.outerHTML.slice(0, 80));
  const states = [...document.querySelectorAll("[data-picture]")].map(({ dataset }) => `${dataset.picture} ${dataset.state}`);
  const overflow = document.documentElement.scrollWidth - innerWidth;
  return { states, texts, faint: [...faint], overflow, wide: overflow > 0 ? wide : [] };
})();
