// Where the time went.

PICTURES.spent = ({ runs: [run] }) => {
  const { series } = colours();
  const total = run.spent.reduce((sum, [, seconds]) => sum + seconds, 0);
  const traces = run.spent.map(([label, seconds], at) => ({
    type: "bar",
    orientation: "h",
    name: plain(label),
    x: [seconds],
    y: [0],
    text: plain(`${label}: ${duration(seconds)}, ${((100 * seconds) / total).toFixed(1)} %`),
    hoverinfo: "text",
    textposition: "none",
    marker: { color: series[at % series.length] },
  }));
  const xaxis = axis({ title: { text: "seconds", standoff: 8 } });
  const layout = { barmode: "stack", xaxis, yaxis: axis({ visible: false }), showlegend: true };
  return { traces, layout, height: 190 };
};
