// Reads the numbers beside the axes of every picture, its texts and the labels under a pointer, as a reader does, and
// compares them with the data of the page. Returns how many it compared of each picture, and what is wrong.
(async () => {
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const { runs } = JSON.parse(await new Response(stream).text());

  const [compared, wrong] = [{}, []];
  let picture = "";
  const check = (isRight, ...what) => {
    compared[picture] = (compared[picture] ?? 0) + 1;
    if (!isRight) wrong.push(`${picture}: ${what.join(" ")}`);
  };

  const UNITS = { ns: 1e-6, us: 1e-3, ms: 1, s: 1e3 };
  /** Returns the number that a text says, in milliseconds if it has a unit of time. Anything else is no number. */
  const said = (text) => {
    const match = text.trim().replace(/−/g, "-").match(/^(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?: (ns|us|ms|s))?$/);
    return match ? Number(match[1]) * (UNITS[match[2]] ?? 1) : NaN;
  };
  /** Returns true if a text says a value: integers digit by digit, others with the digits that it has. */
  const says = (run, text, value) => {
    if (run.is_time ? !/ (ns|us|ms|s)$/.test(text) : / /.test(text)) return false;
    const isWhole = Number.isInteger(value) && !run.is_time;
    return isWhole ? said(text) === value : Math.abs(said(text) - value) <= 6e-4 * Math.abs(value);
  };
  const median = (numbers) => {
    const ascending = [...numbers].sort((a, b) => a - b);
    return (ascending[Math.ceil(ascending.length / 2) - 1] + ascending[Math.floor(ascending.length / 2)]) / 2;
  };

  /** Returns the texts beside an axis with their pixels from its beginning. */
  const ticksOf = (plot, name) => {
    const own = plot._fullLayout[`${name}axis`];
    return [...plot.querySelectorAll(`.${name}tick text`)].map((element) => {
      const [across, down] = element.getAttribute("transform").match(/translate\(([^)]*)\)/)[1].split(",").map(Number);
      return { text: element.textContent, pixel: (name === "x" ? across : down) - own._offset };
    });
  };
  const near = (a, b) => Math.abs(a - b) < 1;
  /** Compares the numbers beside an axis with the places where they stand. */
  const numbered = (plot, name, unit) => {
    const own = plot._fullLayout[`${name}axis`];
    const ticks = ticksOf(plot, name);
    check(ticks.length > 0, `${name} has no number`);
    const texts = ticks.map(({ text }) => text);
    check(new Set(texts).size === texts.length, `${name} repeats`, texts);
    for (const { text, pixel } of ticks) {
      check(near(own.l2p(own.d2l(said(text))), pixel), `${name} says`, text, "at", own.l2d(own.p2l(pixel)));
      check(/ (ns|us|ms|s)$/.test(text) === unit, `${name} has the unit of`, text);
    }
  };
  /** Compares the names beside an axis with the values at the places where they stand. */
  const named = (plot, name, values) => {
    const own = plot._fullLayout[`${name}axis`];
    for (const { text, pixel } of ticksOf(plot, name)) {
      const place = Math.round(own.p2l(pixel));
      check(text === values[place] && near(own.l2p(place), pixel), `${name} says`, text, "at", values[place]);
    }
  };
  /** Returns the text of the labels under a pointer at these points. */
  const under = (plot, points) => {
    Plotly.Fx.hover(plot, points);
    const shown = [...plot.querySelectorAll(".hoverlayer .hovertext")].map((label) => label.textContent);
    Plotly.Fx.unhover(plot);
    return shown;
  };
  const told = (text) => text.replace(/<br>/g, "").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
  /** Compares the text of a point with the evaluation that it names, and with its place. */
  const pointed = (run, text, x, y) => {
    const [, number, result] = text.match(/^#(\d+): (.*?)(?: after .*)?(?:<br>.*)?$/);
    const row = run.number.indexOf(Number(number));
    check(x === run.number[row], "the point of", number, "is at", x);
    const value = run.value[row];
    const status = run.statuses[run.status[row]];
    if (value === null) return check(result === status && y > Math.max(...run.value), number, result);
    check(says(run, result, value) && y === value, number, "says", result, "at", y, "for", value);
  };

  const READ = {
    convergence(plot, own) {
      own.forEach((run, at) => {
        const { x, y, text } = plot.data[at];
        run.curve.number.forEach((_, step) => pointed(run, text[step], x[step], y[step]));
        check(run.curve.value.every((value, step) => y[step] === value), "steps", y, run.curve.value);
        const shown = under(plot, [{ curveNumber: at, pointNumber: 0 }]);
        check(shown.length === 1 && told(text[0]) === shown[0], "label", shown, text[0]);
      });
      numbered(plot, "x", false);
      numbered(plot, "y", own[0].is_time);
    },
    evaluations(plot, [run]) {
      plot.data.forEach(({ x, y, text }, at) => {
        text.forEach((one, point) => pointed(run, one, x[point], y[point]));
        const shown = under(plot, [{ curveNumber: at, pointNumber: 0 }]);
        check(shown.length === 1 && told(text[0]) === shown[0], "label", shown, text[0]);
      });
      check(plot.data.reduce((sum, { x }) => sum + x.length, 0) === run.number.length, "points");
      numbered(plot, "x", false);
      numbered(plot, "y", run.is_time);
    },
    importance(plot, [run]) {
      const all = run.importance.parameters;
      numbered(plot, "x", false);
      named(plot, "y", all.map(({ parameter }) => parameter).reverse());
      const [alone] = plot.data;
      alone.text.forEach((text, bar) => {
        const { parameter, share } = all.at(-1 - bar);
        const isSaid = text === `${parameter}: ${(100 * share).toFixed(1)} % alone`;
        check(isSaid && alone.x[bar] === 100 * share, text, share);
      });
    },
    slices(plot, [run], parameter) {
      const slice = run.slices[run.parameters.findIndex(({ name }) => name === parameter)];
      named(plot, "x", slice.value);
      numbered(plot, "y", run.is_time);
      const [box] = plot.data;
      box.x.forEach((place, at) => {
        const spread = slice.spread[place];
        const parts = [box.lowerfence[at], box.q1[at], box.median[at], box.q3[at], box.upperfence[at]];
        check(parts.every((part, which) => part === spread[which]), "box", parts, spread);
        const texts = under(plot, [{ curveNumber: 0, pointNumber: at }]).flatMap((text) => text.match(/[^:]+$/));
        const isSaid = spread.every((value) => texts.some((text) => says(run, text.trim(), value)));
        check(texts.length > 0 && isSaid, "label", texts.join("|"), "of", spread);
      });
    },
    heatmap(plot, [run]) {
      const [trace] = plot.data;
      const [x, y] = [...plot.closest("[data-picture]").querySelectorAll("select")].map(({ value }) => Number(value));
      named(plot, "x", run.parameters[x].values);
      named(plot, "y", run.parameters[y].values);
      const isLogarithmic = run.value.every((value) => value === null || value > 0);
      const scaled = (value) => (isLogarithmic ? Math.log10(value) : value);
      trace.text.forEach((texts, up) => texts.forEach((text, over) => {
        const all = run.number.map((_, row) => row);
        const rows = all.filter((row) => run.columns[y][row] === up && run.columns[x][row] === over);
        const values = rows.map((row) => run.value[row]).filter((value) => value !== null);
        const [, best, middle, count] = text.match(/<br>best (.*), median (.*)<br>(\d+) evaluations/);
        check(Number(count) === rows.length, text, rows.length);
        if (values.length === 0) return check(best === "-" && trace.z[up][over] === null, text);
        const own = run.is_maximised ? Math.max(...values) : Math.min(...values);
        check(says(run, best, own) && trace.z[up][over] === scaled(own), text, own, trace.z[up][over]);
        check(says(run, middle, median(values)), text, median(values));
      }));
      const [scale] = plot.querySelectorAll(".cbfills");
      const { top, bottom } = scale.getBoundingClientRect();
      const { zmin, zmax } = plot._fullData[0];
      const texts = [...plot.querySelectorAll(".cbaxis text")];
      check(texts.length > 1, "colours have", texts.length, "numbers");
      for (const element of texts) {
        const box = element.getBoundingClientRect();
        const value = zmin + ((bottom - (box.top + box.bottom) / 2) / (bottom - top)) * (zmax - zmin);
        const distance = Math.abs(scaled(said(element.textContent)) - value) / (zmax - zmin);
        check(distance < 0.02, "colours say", element.textContent, "at", value);
      }
    },
    parallel(plot, [run]) {
      const free = run.parameters.filter(({ values }) => values.length > 1);
      named(plot, "x", free.map(({ name }) => name));
      for (const { x, y, text } of plot.layout.annotations) {
        const { values } = free[x];
        check(text === values[Math.round(y * (values.length - 1))], "value", text, "at", y, "of", values);
      }
    },
    samples(plot, [run]) {
      const ofTime = { ...run, is_time: true };
      plot.data.forEach(({ x, text }, at) => x.forEach((time, point) => {
        const own = run.samples.at(-1 - at).times[point];
        check(time === own && says(ofTime, text[point].split("<br>")[0], own), text[point], "at", time, "for", own);
      }));
      numbered(plot, "x", true);
      named(plot, "y", [...run.samples].reverse().map(({ place }) => (place === null ? "other" : `#${place}`)));
    },
    spent(plot, [run]) {
      const total = run.spent.reduce((sum, [, seconds]) => sum + seconds, 0);
      plot.data.forEach(({ x: [seconds], text }, at) => {
        const [label, own] = run.spent[at];
        const isRight = text.startsWith(`${label}: `) && text.endsWith(`, ${((100 * own) / total).toFixed(1)} %`);
        check(isRight && seconds === own, text, "at", seconds, "for", own);
      });
      numbered(plot, "x", false);
    },
  };

  for (const element of document.querySelectorAll("[data-picture]")) {
    picture = element.dataset.picture;
    const own = element.dataset.runs.split(" ").map((at) => runs[at]);
    READ[picture](element.querySelector(".plot"), own, element.dataset.parameter);
  }
  picture = "table";
  for (const row of document.querySelectorAll("[data-table] tbody tr")) {
    const [number, text] = [...row.cells].map((cell) => cell.textContent);
    const value = runs[0].value[runs[0].number.indexOf(Number(number))];
    check(value === null ? text === "-" : says(runs[0], text, value), number, "says", text, "for", value);
  }
  return { compared, wrong };
})();
