// The best so far, and every evaluation.

/** Returns what the horizontal axis shows, as the reader chose. */
function across(picture) {
  const options = [["number", "evaluations"], ["clock", "time"]];
  const chosen = picture.choice("over", options, "number");
  const title = { text: chosen === "number" ? "evaluations" : "seconds", standoff: 8 };
  return { chosen, axis: axis({ title, rangemode: "tozero" }) };
}

PICTURES.convergence = (picture) => {
  const { chosen, axis: xaxis } = across(picture);
  const { series } = colours();
  const traces = picture.runs.map((run, at) => {
    const { curve } = run;
    const text = curve.number.map((number, step) => {
      const row = run.places.get(number);
      return row === undefined ? plain(`#${number}: ${valueText(run, curve.value[step])}`) : described(run, row);
    });
    const end = chosen === "number" ? run.total : curve.end;
    return {
      type: "scatter",
      mode: "lines+markers",
      name: plain(cut(run.name, 40)),
      x: [...curve[chosen], end],
      y: [...curve.value, curve.value.at(-1)],
      text: [...text, text.at(-1)],
      hoverinfo: "text",
      line: { shape: "hv", width: 2, color: series[at % series.length] },
      marker: { size: curve.number.map(() => 6).concat(0) },
    };
  });
  const values = picture.runs.flatMap((run) => run.curve.value);
  return { traces, layout: { xaxis, yaxis: valueAxis(picture.runs[0], values), showlegend: picture.runs.length > 1 } };
};

const SYMBOLS = ["circle", "x", "triangle-down", "square", "diamond", "cross", "star", "hourglass"];

PICTURES.evaluations = (picture) => {
  const { chosen, axis: xaxis } = across(picture);
  const values = picture.runs.flatMap((run) => run.value);
  const yaxis = valueAxis(picture.runs[0], values);
  const edge = edgeOf(values, yaxis.type === "log");
  const traces = picture.runs.flatMap((run, at) => statusTraces(run, at, picture.runs.length, chosen, edge));
  return { traces, layout: { xaxis, yaxis } };
};

/** Returns the height at which failures are drawn: above all values. */
function edgeOf(values, isLogarithmic) {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return 1;
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return isLogarithmic ? high * (high / low) ** 0.06 * 1.02 : high + (high - low || Math.abs(high) || 1) * 0.08;
}

/** Returns the evaluations of a run, a trace for each status. Several runs differ in colour, statuses in shape. */
function statusTraces(run, at, count, chosen, edge) {
  const { series } = colours();
  const traces = [];
  for (const [status, word] of run.statuses.entries()) {
    const rows = run.rows.filter((row) => run.status[row] === status);
    if (rows.length === 0) continue;
    traces.push({
      type: "scatter",
      mode: "markers",
      name: plain(count > 1 ? `${cut(run.name, 30)}: ${word}` : word),
      x: rows.map((row) => run[chosen][row]),
      y: rows.map((row) => run.value[row] ?? edge),
      text: rows.map((row) => described(run, row)),
      hoverinfo: "text",
      marker: {
        color: series[(count > 1 ? at : status) % series.length],
        symbol: SYMBOLS[status % SYMBOLS.length],
        size: status === 0 ? 5 : 8,
        opacity: 0.75,
      },
    });
  }
  return traces;
}
