// What a section says before its pictures: which of its tables are damaged, and which tell of another checkpoint
// than the page does.

import { element } from "./dom.js";
import { TABLES_OF_TRAINING } from "./run.js";
import { grouped, list } from "./words.js";

const fileOf = (name) => `${name}.csv`;

/** A paragraph a damaged table, and one for each step at which tables were measured that is not the page's. */
export function soundness(run, names) {
  const paragraphs = run.tables
    .filter(({ name, fault }) => fault && names.includes(name))
    .map(({ name, fault }) =>
      element("p", { class: "missing failed" }, `${fileOf(name)} is damaged, and left out: ${fault}`),
    );
  const behind = new Map();
  for (const name of names.filter((table) => !TABLES_OF_TRAINING.includes(table))) {
    const step = run.table(name)?.rows[0].step;
    if (step === undefined || Number(step) === run.about.step) continue;
    behind.set(step, [...(behind.get(step) ?? []), fileOf(name)]);
  }
  for (const [step, files] of behind)
    paragraphs.push(
      element(
        "p",
        { class: "note behind" },
        `Measured at step ${grouped(step)}, not at the run's newest checkpoint, step ${grouped(run.about.step)}: ` +
          `${list(files)}. To measure ${files.length === 1 ? "it" : "them"} anew: `,
        element("code", {}, `tapehead report ${run.about.path} --measure`),
      ),
    );
  return paragraphs;
}
