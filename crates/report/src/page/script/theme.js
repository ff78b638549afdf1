// Colours and layouts that follow the style of the page, in light and in dark mode.

const DARK = window.matchMedia("(prefers-color-scheme: dark)");

/** Returns the colours of the page's style in the present mode. */
function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  return { text: of("text"), quiet: of("quiet"), line: of("line"), card: of("card"), series: of("series").split(/\s+/) };
}

/** Writes numbers as they are: with a power of ten beyond millions and millionths, never as 20k. */
const NUMBERS = { exponentformat: "e", minexponent: 6 };

/** Returns an axis with the properties `own`. */
function axis(own) {
  const { text, line } = colours();
  return { automargin: true, color: text, gridcolor: line, linecolor: line, zeroline: false, ...NUMBERS, ...own };
}

/** Returns an axis of the run's objective: of times and rates logarithmic, if all `values` allow it. */
function valueAxis(run, values, own = {}) {
  const known = values.filter((value) => value !== null);
  const isLogarithmic = known.length > 0 && known.every((value) => value > 0);
  // The texts of ticks have their own units. Other labels of the axis have this one.
  const unit = { ticksuffix: run.is_time ? " ms" : "" };
  const ticks = isLogarithmic ? ticksOf(run, Math.min(...known), Math.max(...known)) : {};
  const title = { text: plain(cut(run.objective, 40)), standoff: 8 };
  return axis({ type: isLogarithmic ? "log" : "linear", title, ...unit, ...ticks, ...own });
}

/** Returns about five ticks from `low` to `high` on a logarithmic axis, with their texts. */
function ticksOf(run, low, high) {
  const span = Math.log10(high / low);
  const steps = span > 4 ? [1] : span > 1.2 ? [1, 2, 5] : span > 0.4 ? [1, 1.5, 2, 3, 4, 5, 7] : null;
  const tickvals = [];
  if (steps) {
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
      tickvals.push(...steps.map((step) => step * 10 ** power));
    }
  } else {
    // As few digits as tell the ticks apart.
    const digits = Math.ceil(Math.log10(high / (high - low))) + 1;
    const tick = (value) => Number(value.toPrecision(Math.min(Math.max(digits, 3), run.is_time ? 4 : 9)));
    const all = [-1, 0, 1, 2, 3, 4, 5].map((at) => tick(low * (high / low) ** (at / 4)));
    tickvals.push(...new Set(run.is_time ? all : all.map(rounded)));
  }
  // Only zeros behind a point say nothing.
  const label = (value) => valueText(run, value).replace(/(\.\d*?)0+( |$)/, "$1$2").replace(/\.( |$)/, "$1");
  return { tickmode: "array", tickvals, ticktext: tickvals.map(label) };
}

/** Returns an axis of a parameter's values at the positions 0, 1, 2. Of many values it names some. */
function placesAxis(values, most, own = {}) {
  const places = evenly(values.map((_, place) => place), most);
  const ticktext = places.map((place) => plain(cut(values[place], 16)));
  return axis({ tickmode: "array", tickvals: places, ticktext, range: [-0.6, values.length - 0.4], ...own });
}

/** Returns a layout with the properties `own`. */
function layout(own) {
  const { text, quiet, line, card } = colours();
  return {
    autosize: true,
    // Points before decimals, and nothing between thousands.
    separators: ".",
    modebar: { bgcolor: card, color: quiet, activecolor: text },
    margin: { l: 12, r: 12, t: 12, b: 12 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: text, family: "system-ui, sans-serif", size: 12 },
    hovermode: "closest",
    hoverlabel: { bgcolor: card, bordercolor: line, font: { color: text, size: 12 }, align: "left", namelength: 0 },
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
    // A finger scrolls the page.
    dragmode: window.matchMedia("(pointer: coarse)").matches ? false : "zoom",
    ...own,
  };
}

/**
 * Returns the colour of a share from 0, the best, to 1. The best stands out from the page. The scale is Viridis, which
 * grows evenly for all eyes.
 */
function shade(share) {
  const stops = [[253, 231, 37], [94, 201, 98], [33, 145, 140], [59, 82, 139], [68, 1, 84]];
  const within = Math.min(Math.max(share, 0), 1);
  const place = (DARK.matches ? within : 1 - within) * (stops.length - 1);
  const [low, high] = [stops[Math.floor(place)], stops[Math.ceil(place)]];
  const mixed = low.map((part, at) => Math.round(part + (high[at] - part) * (place % 1)));
  return `rgb(${mixed.join(", ")})`;
}
