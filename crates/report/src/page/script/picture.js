// Pictures: places of the page that are drawn when they come into view.

/** The functions that draw, by the names of places. Each returns traces and a layout. */
const PICTURES = {};

const CONFIG = {
  displaylogo: false,
  responsive: true,
  // Buttons appear under a pointer. A finger would hit them by mistake.
  displayModeBar: window.matchMedia("(hover: hover)").matches ? "hover" : false,
  modeBarButtons: [["zoom2d", "pan2d", "resetScale2d", "toImage"]],
};

/** A place of the page with its runs and with what the reader chose. */
class Picture {
  constructor(element, runs) {
    this.element = element;
    this.name = element.dataset.picture;
    this.runs = element.dataset.runs.split(" ").map((at) => runs[at]);
    this.parameter = element.dataset.parameter;
    this.plot = element.querySelector(".plot");
    this.controls = element.querySelector(".controls");
    this.chosen = {};
    this.kept = {};
    element.dataset.state = "waiting";
  }

  /** Draws the picture, or draws it again. */
  async draw() {
    try {
      const { traces, layout: own, height, width } = PICTURES[this.name](this);
      if (height) this.plot.style.height = `${height}px`;
      if (width) this.plot.style.minWidth = `${width}px`;
      await Plotly.react(this.plot, traces, layout(own), CONFIG);
      this.element.dataset.state = "drawn";
    } catch (error) {
      this.element.dataset.state = "failed";
      this.plot.textContent = "This picture cannot be drawn.";
      console.error(error);
    }
  }

  /** Draws again what was drawn before. */
  refresh() {
    if (this.element.dataset.state === "drawn") this.draw();
  }

  /** Returns the name of the picture on this page and on the next one of the same run. */
  key() {
    const { picture, runs, parameter } = this.element.dataset;
    return [picture, runs, parameter ?? ""].join(" ");
  }

  /**
   * Returns what the reader chose among `options`, pairs of a value and a text. Offers them the first time, and begins
   * with what was chosen on the page before, or else with `first`.
   */
  choice(label, options, first) {
    if (!(label in this.chosen)) {
      const isKept = options.some(([value]) => value === this.kept[label]);
      this.chosen[label] = isKept ? this.kept[label] : first;
      const change = (value) => {
        this.chosen[label] = value;
        this.draw();
      };
      this.controls.append(selection(label, options, this.chosen[label], change));
    }
    return this.chosen[label];
  }
}

/** Returns a labelled list of options, pairs of a value and a text, and calls `change` with the chosen value. */
function selection(label, options, first, change) {
  const select = document.createElement("select");
  for (const [value, text] of options) select.append(new Option(text, value, false, value === first));
  select.addEventListener("change", () => change(select.value));
  const element = document.createElement("label");
  element.append(`${label} `, select);
  return element;
}
