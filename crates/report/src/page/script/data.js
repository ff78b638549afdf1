// The data of the page, and plotly.js: both are compressed, in elements that hold base64.

/** Returns the text that the element with this id holds. */
async function unpacked(id) {
  const text = document.getElementById(id).textContent;
  // Browsers before 2025 lack the faster way.
  const bytes = Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/**
 * Returns the runs of the page. Each has its evaluations as columns: `number`, `value`, `clock`, `status`, `message`,
 * and one of `columns` for every parameter.
 */
async function readRuns() {
  const { runs } = JSON.parse(await unpacked("data"));
  for (const run of runs) {
    run.rows = run.number.map((_, row) => row);
    run.places = new Map(run.number.map((number, row) => [number, row]));
    run.filtered = run.rows;
  }
  return runs;
}

/** Makes plotly.js known as `Plotly`. */
async function loadPlotly() {
  const script = document.createElement("script");
  script.textContent = await unpacked("plotly");
  document.head.append(script);
}

/** Returns the value of the parameter at a position in an evaluation. */
function valueOf(run, parameter, row) {
  return run.parameters[parameter].values[run.columns[parameter][row]] ?? "?";
}

/** Returns true if `a` is a better value of the run's objective than `b`. */
function isBetter(run, a, b) {
  return run.is_maximised ? a > b : a < b;
}

/** Returns the evaluations with a value, the best first. */
function ranked(run, rows = run.rows) {
  const valued = rows.filter((row) => run.value[row] !== null);
  return valued.sort((a, b) => (run.is_maximised ? run.value[b] - run.value[a] : run.value[a] - run.value[b]));
}

/** Returns at most `most` of the elements, evenly spread, the last one included. */
function evenly(elements, most) {
  const kept = Math.min(elements.length, most);
  return Array.from({ length: kept }, (_, at) => elements[Math.floor(((at + 1) * elements.length) / kept) - 1]);
}

/** Returns the median of numbers. */
function median(numbers) {
  const ascending = [...numbers].sort((a, b) => a - b);
  const middle = ascending.length / 2;
  return (ascending[Math.ceil(middle) - 1] + ascending[Math.floor(middle)]) / 2;
}
