// Parallel coordinates: each line is a configuration, each upright a parameter.

/** Maximum number of lines, half of which are the best. */
const LINES = 300;
/** Number of colours, from the best to the worst. */
const SHADES = 8;
/** Maximum number of values that an upright names. */
const LABELS = 9;

PICTURES.parallel = ({ runs: [run] }) => {
  const order = ranked(run, [...run.filtered]);
  const rows = [...order.slice(0, LINES / 2), ...evenly(order.slice(LINES / 2), LINES / 2)];
  const free = [...run.parameters.keys()].filter((at) => run.parameters[at].values.length > 1);
  const groups = Array.from({ length: SHADES }, () => []);
  rows.forEach((row, rank) => groups[Math.floor((rank * SHADES) / rows.length)].push(row));
  // The best are drawn last, above the others.
  const traces = groups.map((group, shadeAt) => bundle(run, free, group, shadeAt)).reverse();
  const uprights = free.map((at) => plain(cut(run.parameters[at].name, 18)));
  const ticks = { tickmode: "array", tickvals: uprights.map((_, at) => at), ticktext: uprights, side: "top" };
  const xaxis = axis({ ...ticks, range: [-0.5, free.length - 0.5], fixedrange: true });
  const yaxis = axis({ visible: false, range: [-0.08, 1.08], fixedrange: true });
  const annotations = free.flatMap((at, upright) => labelsOf(run.parameters[at].values, upright));
  const longest = Math.max(8, ...uprights.map((name) => name.length));
  const width = (7 * longest + 24) * free.length;
  return { traces, layout: { xaxis, yaxis, annotations, showlegend: false, dragmode: false }, width, height: 420 };
};

/** Returns where a value of a parameter stands on its upright. */
function heightOf(values, place) {
  return values.length > 1 ? place / (values.length - 1) : 0.5;
}

/** Returns the lines of some configurations as one trace. */
function bundle(run, free, rows, shadeAt) {
  const [x, y, text] = [[], [], []];
  for (const row of rows) {
    const description = described(run, row);
    for (const [upright, at] of free.entries()) {
      x.push(upright);
      y.push(run.columns[at][row] < 0 ? null : heightOf(run.parameters[at].values, run.columns[at][row]));
      text.push(description);
    }
    x.push(null);
    y.push(null);
    text.push("");
  }
  const line = { width: shadeAt === 0 ? 2 : 1, color: shade(shadeAt / (SHADES - 1)) };
  return { type: "scatter", mode: "lines", x, y, text, hoverinfo: "text", line, opacity: shadeAt === 0 ? 1 : 0.7 };
}

/** Returns the names of values beside an upright. */
function labelsOf(values, upright) {
  const { card } = colours();
  const places = evenly(values.map((_, place) => place), LABELS);
  const label = (place) => ({
    x: upright,
    y: heightOf(values, place),
    text: plain(cut(values[place], 10)),
    xanchor: "left",
    xshift: 3,
    showarrow: false,
    bgcolor: card,
    borderpad: 1,
  });
  return places.map(label);
}
