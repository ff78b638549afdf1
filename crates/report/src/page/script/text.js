// Numbers and names as people read them.

/** Returns a number with four significant digits, without an exponent for numbers from 1 to 9999. */
function significant(number) {
  const size = Math.abs(number);
  return number.toFixed(size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3);
}

/** Returns a time in milliseconds with a fitting unit. */
function milliseconds(time) {
  const size = Math.abs(time);
  if (size >= 1e3) return `${significant(time / 1e3)} s`;
  if (size >= 1 || size === 0) return `${significant(time)} ms`;
  return size >= 1e-3 ? `${significant(time * 1e3)} us` : `${significant(time * 1e6)} ns`;
}

/** Returns a duration in seconds with a fitting unit. */
function duration(seconds) {
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Returns a number with five digits, and a larger one to the unit. */
function rounded(number) {
  const size = Math.abs(number);
  return size >= 1e4 && size < 1e15 ? Math.round(number) : Number(number.toPrecision(5));
}

/** Returns a value of the run's objective. */
function valueText(run, value) {
  if (value === null || value === undefined) return "-";
  return run.is_time ? milliseconds(value) : rounded(value).toString();
}

/** Returns `text` in at most `most` letters. */
function cut(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Returns `text` for plotly.js, which reads some tags of HTML. */
function plain(text) {
  return !/[&<>]/.test(text) ? text : text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** Returns the words joined by commas in lines of about `width` letters. */
function folded(words, width) {
  const lines = [""];
  for (const word of words) {
    if (lines.at(-1) && lines.at(-1).length + word.length > width) lines.push("");
    lines.push(`${lines.pop()}${word}, `);
  }
  return lines.map((line) => line.trimEnd()).join("\n").replace(/,$/, "");
}

/** Returns the words `NAME=VALUE` of every value of every parameter: thousands of evaluations share them. */
function wordsOf(run) {
  const word = (name, value) => `${cut(name, 30)}=${cut(value, 30)}`;
  run.words ??= run.parameters.map(({ name, values }) => [...values, "?"].map((value) => word(name, value)));
  return run.words;
}

/** Returns an evaluation in a few lines: its number, result, time and configuration. */
function described(run, row) {
  const status = run.statuses[run.status[row]];
  const result = status === "correct" ? valueText(run, run.value[row]) : status;
  const words = wordsOf(run).map((words, at) => words.at(run.columns[at][row]));
  const message = run.message[row] === null ? [] : [cut(run.messages[run.message[row]], 60)];
  const lines = [`#${run.number[row]}: ${result} after ${duration(run.clock[row])}`, folded(words, 42), ...message];
  return plain(lines.join("\n")).replace(/\n/g, "<br>");
}
