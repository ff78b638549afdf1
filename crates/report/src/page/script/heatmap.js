// Two parameters at once.

const STATISTICS = [["best", "best"], ["median", "median"], ["count", "evaluations"]];

PICTURES.heatmap = (picture) => {
  const [run] = picture.runs;
  const options = run.parameters.map(({ name }, at) => [String(at), cut(name, 30)]);
  const [first, second] = telling(run);
  const x = Number(picture.choice("across", options, String(first)));
  const y = Number(picture.choice("up", options, String(second)));
  const statistic = picture.choice("colour", STATISTICS, "best");
  const cells = cellsOf(run, x, y);
  const isCount = statistic === "count";
  const numbers = cells.map((row) => row.map((rows) => numberOf(run, rows, statistic)));
  const scale = scaleOf(run, numbers.flat(), isCount);
  const trace = {
    type: "heatmap",
    x: run.parameters[x].values.map((_, place) => place),
    y: run.parameters[y].values.map((_, place) => place),
    z: numbers.map((row) => row.map(scale.of)),
    text: cells.map((row, up) => row.map((rows, over) => cellText(run, [x, over], [y, up], rows))),
    hoverinfo: "text",
    hoverongaps: false,
    colorscale: [0, 0.25, 0.5, 0.75, 1].map((share) => [share, shade(run.is_maximised || isCount ? 1 - share : share)]),
    colorbar: { thickness: 12, len: 1, outlinewidth: 0, ...scale.ticks },
    xgap: 1,
    ygap: 1,
  };
  const name = (at) => ({ text: plain(cut(run.parameters[at].name, 30)), standoff: 8 });
  const xaxis = placesAxis(run.parameters[x].values, NAMED, { title: name(x) });
  const yaxis = placesAxis(run.parameters[y].values, NAMED, { title: name(y) });
  return { traces: [trace], layout: { xaxis, yaxis } };
};

/** Returns the two parameters to begin with: the pair with the largest interaction, or the most important ones. */
function telling(run) {
  const place = (name) => run.parameters.findIndex((own) => own.name === name);
  const byImportance = run.importance.parameters.map(({ parameter }) => place(parameter));
  const pair = (run.importance.pairs[0]?.parameters ?? []).map(place);
  const all = [...pair, ...byImportance, ...run.parameters.keys()].filter((at) => at >= 0);
  return [...new Set(all)].slice(0, 2);
}

/** Returns the evaluations in each cell of two parameters, by rows. */
function cellsOf(run, x, y) {
  const row = () => run.parameters[x].values.map(() => []);
  const cells = run.parameters[y].values.map(row);
  for (const at of run.rows) cells[run.columns[y][at]]?.[run.columns[x][at]]?.push(at);
  return cells;
}

/** Returns the number that colours a cell, or null if it has none. */
function numberOf(run, rows, statistic) {
  if (statistic === "count") return rows.length || null;
  const values = rows.map((row) => run.value[row]).filter((value) => value !== null);
  if (values.length === 0) return null;
  return statistic === "median" ? median(values) : values.reduce((a, b) => (isBetter(run, a, b) ? a : b));
}

/** Returns the scale of colours: logarithmic for positive values, with ticks that say the values. */
function scaleOf(run, numbers, isCount) {
  const known = numbers.filter((number) => number !== null);
  const isLogarithmic = !isCount && known.length > 0 && known.every((number) => number > 0);
  if (!isLogarithmic) return { of: (number) => number, ticks: NUMBERS };
  const { tickvals, ticktext } = ticksOf(run, Math.min(...known), Math.max(...known));
  const of = (number) => (number === null ? null : Math.log10(number));
  return { of, ticks: { tickmode: "array", tickvals: tickvals.map(of), ticktext } };
}

function cellText(run, [x, over], [y, up], rows) {
  const name = (at, place) => `${cut(run.parameters[at].name, 30)}=${cut(run.parameters[at].values[place], 30)}`;
  const numbers = ["best", "median"].map((word) => `${word} ${valueText(run, numberOf(run, rows, word))}`);
  const isCut = (row) => run.statuses[run.status[row]] === "cut";
  const cutOnes = rows.filter(isCut).length;
  const failed = rows.filter((row) => run.status[row] !== 0).length - cutOnes;
  const counts = `${rows.length} evaluations, ${failed} failed${cutOnes ? `, ${cutOnes} cut` : ""}`;
  const lines = [`${name(x, over)}, ${name(y, up)}`, numbers.join(", "), counts];
  return lines.map(plain).join("<br>");
}
