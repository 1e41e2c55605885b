// The verdict in a sentence, each piece of evidence beside its threshold, and the config.

import { element, missing } from "./dom.js";
import { counted, fixed, grouped } from "./words.js";

export function showVerdict(content, run) {
  if (run.verdict) showEvidence(content, run);
  else missing(content, "By what mechanism the model copies", run.command("verdict"));
  for (const intervention of run.about.interventions)
    content.append(
      element(
        "p",
        { class: "note" },
        `Trained with an intervention: ${intervention}. Curves and head ` +
          "scores are those of the model with it, everything else of the model by itself.",
      ),
    );
  content.append(
    element(
      "details",
      { class: "config" },
      element(
        "summary",
        {},
        `Config: ${counted(run.about.parameters, "parameter")}, ${counted(run.about.steps, "step")}`,
      ),
      element("pre", { tabindex: 0 }, run.about.config),
    ),
  );
}

function showEvidence(content, run) {
  const { mechanism, sentence, evidence } = run.verdict;
  const table = run.table("verdict");
  content.append(
    element(
      "p",
      { class: `mechanism ${mechanism}` },
      element("strong", {}, mechanism),
      ` at step ${grouped(Number(table.rows[0].step))}`,
    ),
    element("p", { class: "sentence" }, sentence),
  );
  const finding = new Map(evidence.map((piece) => [piece.name, piece.finding]));
  const rows = table.rows.map((row) => evidenceRow(table, row, finding.get(row.evidence)));
  content.append(
    element("ul", { class: "evidence", "aria-label": "Evidence for induction heads" }, ...rows),
    element(
      "p",
      { class: "small" },
      "Each line: the value, the mark that it has to be above or below, and whether it is. " +
        `Probed with ${table.rows[0].sequences} random sequences a period.`,
    ),
  );
}

function evidenceRow(table, row, finding) {
  const value = table.number(row, "value");
  const threshold = table.number(row, "threshold");
  const [state, holding] = Number.isNaN(value)
    ? ["unmeasured", "not measured"]
    : row.holds === "yes"
      ? ["holds", "yes"]
      : ["fails", "no"];
  return element(
    "li",
    { class: state },
    element("span", { class: "finding" }, finding),
    element("span", { class: "number" }, fixed(value)),
    scaleOf(value, threshold, row.must_be === "above"),
    element("span", { class: "rule" }, `${row.must_be} ${fixed(threshold)}`),
    element("span", { class: "holding" }, holding),
  );
}

/** A bar of the value on a scale from 0, with a tick at the threshold and the side that counts in a tint. */
function scaleOf(value, threshold, above) {
  const most = Math.max(1, value || 0, threshold);
  const share = (x) => `${(100 * Math.max(0, Math.min(1, x / most))).toFixed(1)}%`;
  const side = above ? `left: ${share(threshold)}; right: 0` : `left: 0; width: ${share(threshold)}`;
  return element(
    "span",
    { class: "scale", "aria-hidden": "true" },
    element("span", { class: "side", style: side }),
    Number.isFinite(value) ? element("span", { class: "bar", style: `width: ${share(value)}` }) : "",
    element("span", { class: "tick", style: `left: ${share(threshold)}` }),
  );
}
