// Every table of the run: what it holds, the command that made it, its rows, and the file to keep.

import { element } from "./dom.js";
import { TABLES_OF_TRAINING } from "./run.js";
import { counted } from "./words.js";

const MOST_ROWS = 200; // that are laid out at a time
const NOT_IN_NAMES = /[<>:"/\\|?*]/g; // of files, on some systems

export function showTables(content, run) {
  const there = run.tables.filter(({ csv }) => csv);
  content.append(...there.map((table) => card(run, table)));
  const missing = run.tables.filter(({ csv, command }) => !csv && command);
  if (missing.length > 0)
    content.append(
      element("h3", {}, "Not measured yet"),
      element(
        "ul",
        { class: "commands" },
        ...missing.map(({ name, about, command }) =>
          element("li", {}, `${name}: ${about}`, element("code", {}, command), noteOn(name)),
        ),
      ),
    );
}

function card(run, { name, about, csv, command }) {
  const table = run.table(name);
  const rows = element("div", {
    class: "scroll",
    tabindex: 0,
    role: "region",
    "aria-label": `Rows of ${name}`,
  });
  const file = `${run.about.name}-${name}.csv`.replace(NOT_IN_NAMES, "_");
  const details = element(
    "details",
    {
      ontoggle: () => {
        if (details.open && rows.childElementCount === 0) rows.append(layOut(table));
      },
    },
    element(
      "summary",
      {},
      `${counted(table.rows.length, "row")}, ${counted(table.columns.length, "column")}`,
    ),
    rows,
  );
  return element(
    "article",
    { class: "table" },
    element("h3", { id: `table-${name}` }, name),
    element("p", { class: "about" }, about),
    element(
      "button",
      { type: "button", class: "download", onclick: () => download(file, csv) },
      `Download ${file}`,
    ),
    command ? element("p", { class: "made" }, element("code", {}, command), noteOn(name)) : "",
    details,
  );
}

/** What the command of a table does beside making it. */
function noteOn(name) {
  if (!TABLES_OF_TRAINING.includes(name)) return "";
  return element("span", { class: "small" }, " trains the run anew, into a folder beside it");
}

function layOut(table) {
  const body = element("tbody", {});
  const numeric = table.columns.map((column) =>
    table.rows.every((row) => row[column] === "" || Number.isFinite(Number(row[column]))),
  );
  const add = (from) => {
    for (const row of table.rows.slice(from, from + MOST_ROWS))
      body.append(
        element(
          "tr",
          {},
          ...table.columns.map((column, i) =>
            element("td", { class: numeric[i] ? "number" : "" }, row[column]),
          ),
        ),
      );
  };
  add(0);
  const made = element(
    "div",
    {},
    element(
      "table",
      {},
      element(
        "thead",
        {},
        element("tr", {}, ...table.columns.map((column) => element("th", { scope: "col" }, column))),
      ),
      body,
    ),
  );
  if (table.rows.length > MOST_ROWS) {
    const more = element(
      "button",
      {
        type: "button",
        onclick: () => {
          add(body.childElementCount);
          if (body.childElementCount >= table.rows.length) more.remove();
        },
      },
      `Show ${MOST_ROWS} more`,
    );
    made.append(more);
  }
  return made;
}

function download(name, csv) {
  const url = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
