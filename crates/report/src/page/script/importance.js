// The importance of the parameters.

/** Maximum number of bars. */
const BARS = 20;

PICTURES.importance = ({ runs: [run] }) => {
  const { series } = colours();
  const alone = run.importance.parameters.map(({ parameter, share, with_interactions: all }) => [parameter, share, all - share]);
  const rows = alone.slice(0, BARS).reverse();
  const names = rows.map(([name]) => name);
  const bars = (name, part, color) => ({
    type: "bar",
    orientation: "h",
    name,
    y: rows.map((_, at) => at),
    x: rows.map((row) => 100 * row[part]),
    text: rows.map((row) => plain(`${cut(row[0], 40)}: ${(100 * row[part]).toFixed(1)} % ${name}`)),
    hoverinfo: "text",
    textposition: "none",
    marker: { color },
  });
  const traces = [bars("alone", 1, series[0]), bars("with others", 2, series[4])];
  const title = { text: "% of the variance", standoff: 8 };
  const xaxis = axis({ title, rangemode: "tozero" });
  const layout = { barmode: "stack", xaxis, yaxis: placesAxis(names, BARS) };
  return { traces, layout, height: 130 + 24 * rows.length };
};
