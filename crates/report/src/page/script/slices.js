// The values of one parameter: medians and spread.

/** Maximum number of values that an axis names. */
const NAMED = 12;

PICTURES.slices = ({ runs, parameter }) => {
  const { series } = colours();
  const slices = runs.map((run) => run.slices[run.parameters.findIndex(({ name }) => name === parameter)]);
  const values = [...new Set(slices.flatMap((slice) => slice?.value ?? []))];
  const traces = runs.flatMap((run, at) => {
    const slice = slices[at];
    const lines = (slice?.value ?? []).map((_, line) => line).filter((line) => slice.spread[line]);
    if (lines.length === 0) return [];
    const part = (which) => lines.map((line) => slice.spread[line][which]);
    return {
      type: "box",
      name: plain(cut(run.name, 40)),
      x: lines.map((line) => values.indexOf(slice.value[line])),
      lowerfence: part(0),
      q1: part(1),
      median: part(2),
      q3: part(3),
      upperfence: part(4),
      marker: { color: series[at % series.length] },
      hoverinfo: "y",
      offsetgroup: String(at),
    };
  });
  const all = traces.flatMap((trace) => [...trace.lowerfence, ...trace.upperfence]);
  const yaxis = { ...valueAxis(runs[0], all), title: undefined };
  const showlegend = runs.length > 1;
  return { traces, layout: { boxmode: "group", xaxis: placesAxis(values, NAMED), yaxis, showlegend } };
};
