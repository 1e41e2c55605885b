// What adds to a logit, and what could be read out after every layer.

import { fill } from "./dom.js";
import { drawBars } from "./bars.js";
import { figure, key } from "./figure.js";
import { drawPanels } from "./panels.js";
import { strongest } from "./strongest.js";
import { change, fixed, words } from "./words.js";

const MOST_COMPONENTS = 16; // that are shown unasked

/** What each component adds to the right token's logit, above what it gives to all. */
export function showAttribution(content, run, table) {
  const names = [...new Set(table.rows.map((row) => componentName(row)))];
  const of = (name, kind) => table.rows.find((row) => componentName(row) === name && row.kind === kind);
  const made = figure(content, {
    title: "What adds to the right token's logit",
    caption: [
      `Directly, above what the component gives to all tokens. The parts sum to the logit: the largest error ` +
        `is ${Number(table.rows[0].largest_error).toExponential(0)}.`,
    ],
    draw(body, width) {
      drawBars(body, width, {
        axis: "logit above the mean",
        groups: namesShown().map((name) => ({
          name,
          bars: ["induction", "noise"]
            .filter((kind) => of(name, kind))
            .map((kind) => ({
              value: table.number(of(name, kind), "above_mean"),
              low: NaN,
              high: NaN,
              colour: `var(--${kind})`,
              text: change(table.number(of(name, kind), "above_mean"), 2),
            })),
        })),
        describe:
          "Bars: " +
          namesShown()
            .map(
              (name) =>
                `${name} ${of(name, "induction") ? fixed(table.number(of(name, "induction"), "above_mean"), 2) : "–"}`,
            )
            .join(", ") +
          " on induction positions. Numbers are in the table attribution.",
      });
    },
  });
  const size = (name) =>
    name === "sum"
      ? Infinity
      : Math.max(
          ...table.rows
            .filter((row) => componentName(row) === name)
            .map((row) => Math.abs(table.number(row, "above_mean")))
            .filter(Number.isFinite),
          0,
        );
  const namesShown = strongest(made, names, MOST_COMPONENTS, size);
  fill(
    made.legend,
    key({ name: "on induction positions", colour: "var(--induction)", square: true }).root,
    key({ name: "on noise", colour: "var(--noise)", square: true }).root,
  );
}

function componentName({ component, layer, head }) {
  if (layer === "") return words(component);
  return head === "" ? `layer ${layer} ${words(component)}` : `head ${layer}.${head}`;
}

/** The losses when the stream is read out after every layer. */
export function showLens(content, table) {
  const columns = [
    ["loss_induction", "induction", "var(--induction)"],
    ["loss_noise", "noise", "var(--noise)"],
  ];
  const last = table.rows.length - 1;
  const made = figure(content, {
    title: "What could be read out after every layer",
    caption: [
      "The loss when the residual stream after so many layers is read out as if it were the last (the logit lens).",
    ],
    draw(body, width) {
      const curves = columns.map(([column, , colour]) => ({
        colour,
        hasDots: true,
        points: table.rows.map((row) => [table.number(row, "layer"), table.number(row, column)]),
      }));
      const highest = Math.max(
        ...curves.flatMap(({ points }) => points.map(([, y]) => y)).filter(Number.isFinite),
      );
      drawPanels(body, width, {
        panels: [{ label: "loss (nats)", height: 150, domain: [0, 1.05 * highest], curves }],
        x: { label: "layers passed", domain: [-0.1, last + 0.1], isLogarithmic: false, shaded: [] },
        describe:
          "Curves: " +
          columns
            .map(
              ([column, name]) =>
                `loss on ${name} after each layer ` +
                table
                  .numbers(column)
                  .map((x) => fixed(x, 2))
                  .join(", "),
            )
            .join("; "),
        onpoint: () => {},
      });
    },
  });
  fill(
    made.legend,
    ...columns.map(
      ([column, name, colour]) => key({ name, colour, value: fixed(table.numbers(column).at(-1)) }).root,
    ),
  );
}
