// The table of all evaluations: it sorts, filters, and has a column for every parameter.

/** Number of rows shown at once. */
const PAGE = 25;
/** Maximum number of values that a filter lists. A column with more has a field for text. */
const LISTED = 60;

/** A column: its name, its text and its order for an evaluation. A column with `values` lists them in its filter. */
function columnsOf(run) {
  const parameter = ({ name, values }, at) => {
    const place = (row) => run.columns[at][row];
    return { name, text: (row) => valueOf(run, at, row), order: place, values };
  };
  const objective = run.is_maximised ? (row) => -(run.value[row] ?? -Infinity) : (row) => run.value[row] ?? Infinity;
  const status = (row) => run.statuses[run.status[row]];
  const used = run.statuses.filter((_, at) => run.status.includes(at));
  return [
    { name: "#", text: (row) => String(run.number[row]), order: (row) => run.number[row], isNumber: true },
    { name: run.objective, text: (row) => valueText(run, run.value[row]), order: objective, isNumber: true },
    { name: "status", text: status, order: (row) => run.status[row], values: used },
    { name: "after", text: (row) => duration(run.clock[row]), order: (row) => run.clock[row], isNumber: true },
    ...run.parameters.map(parameter),
    ...(run.messages.length ? [{ name: "message", text: (row) => run.messages[run.message[row]] ?? "", order: (row) => run.message[row] ?? Infinity }] : []),
  ];
}

/** The table of a run in its place. */
class EvaluationTable {
  constructor(element, run, filtered) {
    this.run = run;
    this.filtered = filtered;
    this.columns = columnsOf(run);
    this.sort = { column: this.columns[1], sign: 1 };
    this.filters = new Map();
    this.fields = new Map();
    this.page = 0;
    const [count, scroll, pager] = element.children;
    this.count = count;
    this.table = scroll.appendChild(document.createElement("table"));
    this.table.append(this.head(), document.createElement("tbody"));
    this.previous = button("previous", () => this.turn(-1));
    this.next = button("next", () => this.turn(1));
    this.where = document.createElement("span");
    pager.append(this.previous, this.where, this.next);
    this.update();
  }

  /** Returns the two rows of the head: buttons that sort, and filters. */
  head() {
    const head = document.createElement("thead");
    const [names, filters] = [head.insertRow(), head.insertRow()];
    for (const column of this.columns) {
      const cell = names.appendChild(document.createElement("th"));
      cell.className = column.isNumber ? "number" : "";
      cell.append(button(cut(column.name, 24), () => this.sortBy(column)));
      column.cell = cell;
      filters.appendChild(document.createElement("th")).append(this.filter(column));
    }
    return head;
  }

  /** Returns the filter of a column, or nothing if it has none. */
  filter(column) {
    if (column.isNumber) return "";
    const { values } = column;
    const isListed = values && values.length <= LISTED;
    const field = document.createElement(isListed ? "select" : "input");
    if (isListed) field.append(new Option("any", ""), ...values.map((value, at) => new Option(cut(value, 24), String(at))));
    this.fields.set(this.columns.indexOf(column), field);
    field.setAttribute("aria-label", `only rows with this ${column.name}`);
    field.addEventListener("input", () => {
      const text = field.value.toLowerCase();
      const accepts = isListed
        ? (row) => column.text(row) === values[Number(text)]
        : (row) => column.text(row).toLowerCase().includes(text);
      if (text) this.filters.set(column, accepts);
      else this.filters.delete(column);
      this.page = 0;
      this.update();
      this.filtered();
    });
    return field;
  }

  /** Returns what the reader chose: the sort, the page, the filters, and the part in view. */
  chosen() {
    const text = (field) => (field.options ? field.selectedOptions[0].text : field.value);
    const used = [...this.fields].filter(([, field]) => field.value !== "");
    const { column, sign } = this.sort;
    return {
      sort: [this.columns.indexOf(column), sign],
      page: this.page,
      filters: used.map(([at, field]) => [at, text(field)]),
      left: this.table.parentElement.scrollLeft,
    };
  }

  /** Chooses the same again, as far as the run has it. */
  choose({ sort: [at, sign], page, filters, left }) {
    this.sort = { column: this.columns[at] ?? this.sort.column, sign };
    for (const [at, text] of filters) {
      const field = this.fields.get(at);
      if (!field) continue;
      if (field.options) field.selectedIndex = Math.max(0, [...field.options].findIndex((option) => option.text === text));
      else field.value = text;
      field.dispatchEvent(new Event("input"));
    }
    this.page = page;
    this.update();
    this.table.parentElement.scrollLeft = left;
  }

  sortBy(column) {
    const isSame = this.sort.column === column;
    this.sort = { column, sign: isSame ? -this.sort.sign : 1 };
    this.page = 0;
    this.update();
  }

  turn(pages) {
    this.page += pages;
    this.update();
  }

  /** Shows the rows that pass all filters. */
  update() {
    const { run, sort, filters } = this;
    const passes = [...filters.values()];
    run.filtered = run.rows.filter((row) => passes.every((accepts) => accepts(row)));
    const compare = (a, b) => {
      const [first, second] = [sort.column.order(a), sort.column.order(b)];
      return first === second ? a - b : sort.sign * (first < second ? -1 : 1);
    };
    const rows = [...run.filtered].sort(compare);
    const pages = Math.max(1, Math.ceil(rows.length / PAGE));
    this.page = Math.min(this.page, pages - 1);
    this.table.tBodies[0].replaceChildren(...rows.slice(this.page * PAGE, (this.page + 1) * PAGE).map((row) => this.row(row)));
    for (const column of this.columns) {
      const order = sort.sign === 1 ? "ascending" : "descending";
      column.cell.setAttribute("aria-sort", sort.column === column ? order : "none");
      column.cell.firstChild.textContent = `${cut(column.name, 24)}${sort.column === column ? (sort.sign === 1 ? " ▲" : " ▼") : ""}`;
    }
    this.count.textContent = `${rows.length} of ${run.rows.length} evaluations`;
    this.where.textContent = `page ${this.page + 1} of ${pages}`;
    this.previous.disabled = this.page === 0;
    this.next.disabled = this.page + 1 >= pages;
  }

  row(row) {
    const element = document.createElement("tr");
    for (const column of this.columns) {
      const cell = element.insertCell();
      cell.className = column.isNumber ? "number" : "";
      cell.textContent = column.text(row);
    }
    return element;
  }
}

/** Returns a button. */
function button(text, act) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.addEventListener("click", act);
  return element;
}
