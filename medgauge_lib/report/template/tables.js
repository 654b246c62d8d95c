// Tables of figures: sorted by any column, filtered by words, and back in their own order. Without this script
// they are plain tables.
(() => {
  const FILTERED_FROM = 6; // rows; fewer are seen at a glance
  const NUMBER = /^([A-Z]{3}\s)?[≥≤<>~=$€£¥]?\s?([-+]?[\d,]*\.?\d+(?:e[-+]?\d+)?)\s?(?:%|pp|s|=)?$/i;
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  const isHeading = (row) => row.querySelector("th[scope=rowgroup]") !== null;

  // What a cell says first: its small print and marks do not order rows.
  const leading = (cell) =>
    [...cell.childNodes]
      .filter((node) => !(node.matches?.("small, .mg-mark")))
      .map((node) => (node.querySelector?.("small") ? leading(node) : node.textContent))
      .join("")
      .trim();

  // What orders a cell: a unit and a number, a text, or null for what is absent.
  const keyOf = (cell) => {
    if (!cell || cell.classList.contains("mg-absent")) return null;
    const text = leading(cell).replaceAll("−", "-").replace(/\s+/g, " ");
    const found = cell.closest("details.data") && !cell.classList.contains("number") ? null : NUMBER.exec(text);
    const given = cell.dataset.sort;
    const number = Number(given ?? found?.[2].replaceAll(",", "") ?? NaN);
    if (!Number.isNaN(number)) return { unit: found?.[1] ?? "", number };
    return given || text || null;
  };

  // Numbers come before texts, and what is absent comes last in either direction. Amounts are ordered within
  // their currency only.
  const compare = (a, b, sign) => {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a !== typeof b) return typeof a === "object" ? -1 : 1;
    if (typeof a === "string") return sign * collator.compare(a, b);
    return collator.compare(a.unit, b.unit) || sign * (a.number - b.number);
  };

  // Says that something lies beyond the right edge, as long as it does.
  const hint = (scroller, what) => {
    const words = document.createElement("span");
    words.className = "more";
    words.textContent = `Scroll for ${what} →`;
    const look = () => {
      words.hidden = scroller.scrollWidth - scroller.clientWidth - Math.abs(scroller.scrollLeft) < 8;
    };
    const resized = new ResizeObserver(look);
    for (const element of [scroller, ...scroller.children]) resized.observe(element);
    scroller.addEventListener("scroll", look, { passive: true });
    look();
    return words;
  };

  class SortedTable {
    // A figure may have its columns in several tables: what the first one's filter leaves out all leave out.
    constructor(table, name, own, first = null) {
      this.table = table;
      this.all = first ? first.all : [];
      this.all.push(this);
      this.own = own;
      this.groups = [...table.tBodies].map((body) => ({ body, rows: [...body.rows] }));
      this.rows = this.groups.flatMap(({ rows }) => rows.filter((row) => !isHeading(row)));
      this.headers = [...table.tHead.rows[0].cells];
      this.sorted = null;
      if (this.rows.length < 2) return;
      this.headers.forEach((header, column) => this.addButton(header, column));
      this.addTools(name);
    }

    addButton(header, column) {
      if (!this.rows.some((row) => keyOf(row.cells[column]) !== null)) return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      const words = [...header.childNodes].filter((node) => !node.matches?.("svg, small"));
      header.prepend(button);
      button.append(...words);
      button.addEventListener("click", () => this.sort(column));
    }

    addTools(name) {
      const tools = document.createElement("div");
      tools.className = "tools";
      if (this.rows.length >= FILTERED_FROM && this.all[0] === this) {
        const label = document.createElement("label");
        this.input = document.createElement("input");
        this.input.type = "search";
        this.input.autocomplete = "off";
        this.input.setAttribute("aria-label", `Filter rows of ${name}`);
        this.input.addEventListener("input", () => this.filter());
        label.append("Filter rows ", this.input);
        tools.append(label);
      }
      this.reset = document.createElement("button");
      this.reset.type = "button";
      this.reset.textContent = `Back to ${this.own}`;
      this.reset.hidden = true;
      this.reset.addEventListener("click", () => {
        this.headers[this.sorted.column].querySelector("button.sort").focus();
        this.arrange(null);
      });
      this.status = document.createElement("span");
      this.status.setAttribute("role", "status");
      const scroller = this.table.closest(".mg-scroll, .scroll") ?? this.table;
      tools.append(this.reset, this.status, hint(scroller, "more columns"));
      scroller.before(tools);
    }

    // Up, down, and back to the table's own order.
    sort(column) {
      if (this.sorted?.column !== column) this.arrange({ column, sign: 1 });
      else this.arrange(this.sorted.sign === 1 ? { column, sign: -1 } : null);
    }

    arrange(sorted) {
      this.sorted = sorted;
      for (const { body, rows } of this.groups) {
        const headings = rows.filter(isHeading);
        const keyed = rows
          .filter((row) => !isHeading(row))
          .map((row) => ({ row, key: sorted && keyOf(row.cells[sorted.column]) }));
        if (sorted) keyed.sort((a, b) => compare(a.key, b.key, sorted.sign));
        body.append(...headings, ...keyed.map(({ row }) => row));
      }
      this.headers.forEach((header, column) => {
        if (sorted?.column === column)
          header.setAttribute("aria-sort", sorted.sign === 1 ? "ascending" : "descending");
        else header.removeAttribute("aria-sort");
      });
      this.reset.hidden = sorted === null;
      this.say();
    }

    filter() {
      const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const one of this.all) one.keep(words);
    }

    keep(words) {
      for (const row of this.rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
      for (const { rows } of this.groups) {
        const heading = rows.find(isHeading);
        if (heading) heading.hidden = rows.every((row) => row === heading || row.hidden);
      }
      this.say();
    }

    say() {
      const shown = this.rows.filter((row) => !row.hidden).length;
      const said = [];
      if (shown < this.rows.length) said.push(`${shown} of ${this.rows.length} rows shown.`);
      if (this.sorted) {
        const header = this.headers[this.sorted.column].querySelector("button.sort").textContent.trim();
        said.push(`Sorted by ${header}, ${this.sorted.sign === 1 ? "ascending" : "descending"}.`);
      }
      const moved = said.length > 0;
      this.table.classList.toggle("moved", moved);
      if (moved && this.table.querySelector(".mg-bars"))
        said.push("Bars mark the same groups as before: rows with a bar in one column are not shown to differ.");
      this.status.textContent = said.join(" ");
    }
  }

  for (const figure of document.querySelectorAll("figure:has(table.mg-table)")) {
    const title = figure.querySelector("h2, h3, h4, h5, h6").textContent;
    let first = null;
    for (const table of figure.querySelectorAll("table.mg-table")) {
      const own = table.classList.contains("mg-board") ? "board order" : "its own order";
      first ??= new SortedTable(table, title, own);
      if (first.table !== table) new SortedTable(table, title, own, first);
    }
  }
  for (const chart of document.querySelectorAll("figure > .scroll > .chart")) {
    chart.parentElement.before(hint(chart.parentElement, "the rest"));
  }
  // Data is closed at first, and there may be much of it.
  for (const details of document.querySelectorAll("figure details.data")) {
    const prepare = () => {
      const title = details.closest("figure").querySelector("h2, h3, h4, h5, h6").textContent;
      for (const table of details.querySelectorAll("table"))
        new SortedTable(table, `the data of ${title}`, "its own order");
    };
    details.addEventListener("toggle", prepare, { once: true });
  }
})();
