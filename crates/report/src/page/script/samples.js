// The samples of the leaders.

PICTURES.samples = ({ runs: [run] }) => {
  const { series } = colours();
  const rows = [...run.samples].reverse();
  const label = ({ place }) => (place === null ? "other" : `#${place}`);
  const traces = rows.map((samples, at) => ({
    type: "violin",
    orientation: "h",
    x: samples.times,
    y0: at,
    points: "all",
    pointpos: 0,
    jitter: 0.5,
    marker: { size: 3, opacity: 0.6 },
    line: { color: series[samples.place === 1 ? 2 : 0], width: 1 },
    box: { visible: true },
    spanmode: "hard",
    text: samples.times.map((time) => plain(`${milliseconds(time)}\n${folded(samples.config.split(","), 42)}`).replace(/\n/g, "<br>")),
    hoverinfo: "text",
    hoveron: "points",
    showlegend: false,
  }));
  const times = rows.flatMap((samples) => samples.times);
  const ofTime = { ...run, is_time: true, objective: "time" };
  const xaxis = valueAxis(ofTime, times);
  const yaxis = placesAxis(rows.map(label), rows.length);
  return { traces, layout: { violinmode: "overlay", xaxis, yaxis }, height: 110 + 46 * rows.length };
};
