// One subject can be highlighted in every table and chart of the page, and on the next page as well.
(() => {
  const KEPT = "medgauge.subject";
  const subjects = new Map(); // the name of a subject, as a chart writes it in full → its id, where one is known

  const note = (name, id) => {
    if (typeof name === "string" && name && !subjects.get(name)) subjects.set(name, id ?? "");
  };

  for (const script of document.querySelectorAll("script[id$='-spec']")) {
    const { datasets = {} } = JSON.parse(script.textContent);
    for (const row of Object.values(datasets).flat()) note(row?.subject, row?.id);
  }
  for (const table of document.querySelectorAll("figure details.data table")) {
    const columns = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    const id = columns.indexOf("id");
    const name = columns.includes("subject") || id < 0 ? columns.indexOf("subject") : columns.indexOf("label");
    if (name < 0) continue;
    for (const row of table.tBodies[0].rows) note(row.cells[name].textContent, row.cells[id]?.textContent);
  }
  if (subjects.size < 2) return;

  const names = [...subjects.keys()];
  const nameOf = new Map(names.flatMap((name) => [[name, name], [subjects.get(name), name]]));
  nameOf.delete("");
  const about = (texts) => new Set(texts.map((text) => nameOf.get(text)).filter(Boolean));
  const cellTexts = (row) => [...row.cells].map((cell) => cell.textContent.trim());
  const rows = [...document.querySelectorAll("figure tbody tr")].map((row) => ({
    row,
    subjects: about(row.dataset.row ? [row.dataset.row] : cellTexts(row)),
  }));
  let marks = [];
  let chosen = "";

  const label = document.createElement("label");
  const select = document.createElement("select");
  select.append(new Option("none", ""), ...names.map((name) => new Option(name, name)));
  label.append("Highlight a subject ", select);
  const bar = document.createElement("div");
  bar.className = "highlight";
  bar.append(label);
  document.querySelector("header.report .inner").append(bar);

  const choose = (name) => {
    chosen = subjects.has(name) ? name : "";
    select.value = chosen;
    for (const one of rows) one.row.classList.toggle("picked", one.subjects.has(chosen));
    for (const one of marks) {
      one.mark.classList.toggle("picked", one.subjects.has(chosen));
      one.mark.classList.toggle("passed", chosen !== "" && !one.subjects.has(chosen));
    }
    for (const button of document.querySelectorAll("button.subject"))
      button.setAttribute("aria-pressed", String(button.value === chosen));
  };
  const keep = (name) => {
    try {
      sessionStorage.setItem(KEPT, name);
    } catch {
      // Some browsers keep nothing for a page opened from disk; the choice then ends with the page.
    }
  };
  const kept = () => {
    try {
      return sessionStorage.getItem(KEPT) ?? "";
    } catch {
      return "";
    }
  };
  const toggle = (name) => {
    choose(name === chosen ? "" : name);
    keep(chosen);
  };

  for (const one of rows) {
    const head = one.row.dataset.row && one.row.querySelector("th[scope=row]");
    const [name] = one.subjects;
    if (!head || !name || head.firstChild?.nodeType !== Node.TEXT_NODE) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "subject";
    button.value = name;
    head.prepend(button);
    button.append(button.nextSibling);
    button.addEventListener("click", () => toggle(name));
  }
  select.addEventListener("change", () => {
    choose(select.value);
    keep(chosen);
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !chosen || event.target.matches("input, select")) return;
    choose("");
    keep("");
  });

  // Vega binds each mark to its item, and the item to the row of data it was drawn from.
  document.addEventListener("drawn", () => {
    const drawn = [...document.querySelectorAll(".chart .role-mark > :is(path, text, line, rect, image)")];
    marks = drawn
      .map((mark) => ({ mark, subjects: about(Object.values(mark.__data__?.datum ?? {})) }))
      .filter((one) => one.subjects.size > 0);
    for (const one of marks) {
      if (one.subjects.size > 1) continue;
      one.mark.classList.add("subject");
      one.mark.addEventListener("click", () => toggle([...one.subjects][0]));
    }
    choose(kept());
  });
})();
