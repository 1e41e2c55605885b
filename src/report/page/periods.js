// Head scores against the period of the sequences, of the trained and of the untrained model.

import { fill } from "./dom.js";
import { choice } from "./choice.js";
import { figure, key } from "./figure.js";
import { headColour, headDash } from "./palette.js";
import { drawPanels } from "./panels.js";
import { definitionOf, scoreNames } from "./scores.js";
import { fixed, words } from "./words.js";

const MOST_KEYS = 8;

export function showPeriods(content, run, table) {
  let score = "induction";
  const trained = table.rows.filter((row) => row.model === "trained");
  const periods = [...new Set(table.numbers("period"))].sort((a, b) => a - b);
  const made = figure(content, {
    title: "Scores at other periods",
    caption: [captionOf(run, table)],
    draw(body, width) {
      const pointsOfHead = (model, layer, head) =>
        table.rows
          .filter((row) => row.model === model && Number(row.layer) === layer && Number(row.head) === head)
          .map((row) => [table.number(row, "period"), table.number(row, score)])
          .sort((a, b) => a[0] - b[0]);
      const curves = ["untrained", "trained"].flatMap((model) =>
        run.headNames().map(({ layer, head }) => ({
          points: pointsOfHead(model, layer, head),
          colour: headColour(run, layer, head),
          dash: headDash(run, layer, head),
          width: model === "trained" ? 1.8 : 0.6,
          hasDots: model === "trained",
        })),
      );
      const pad = Math.max(0.5, 0.03 * (periods.at(-1) - periods[0]));
      const show = drawPanels(body, width, {
        panels: [
          {
            label: `${words(score)} score`,
            height: 170,
            domain: definitionOf(run, score).domain ?? [0, 1],
            curves,
          },
        ],
        x: {
          label: "period (tokens)",
          domain: [periods[0] - pad, periods.at(-1) + pad],
          isLogarithmic: false,
          shaded: run.about.periods ? [run.about.periods] : [],
        },
        describe: `${words(score)} score of every head at periods ${periods.join(", ")}; numbers are in the table scores.`,
        onpoint: (at) => {
          const period =
            at === null
              ? null
              : periods.reduce((best, there) => (Math.abs(there - at) < Math.abs(best - at) ? there : best));
          show(period);
          read(period);
        },
      });
    },
  });
  choice(made.controls, {
    label: "Score",
    value: score,
    options: scoreNames(run, table).map((name) => [name, words(name)]),
    onchange: (value) => {
      score = value;
      made.redraw();
      read(null);
    },
  });
  const read = (period) => {
    const at = period ?? periods.at(-1);
    const rows = trained
      .filter((row) => Number(row.period) === at)
      .sort((a, b) => table.number(b, score) - table.number(a, score));
    fill(
      made.legend,
      `period ${at}: `,
      ...rows.slice(0, MOST_KEYS).map((row) => {
        const [layer, head] = [Number(row.layer), Number(row.head)];
        return key({
          name: `head ${layer}.${head}`,
          colour: headColour(run, layer, head),
          dash: headDash(run, layer, head),
          value: fixed(table.number(row, score)),
        }).root;
      }),
    );
  };
  read(null);
}

function captionOf(run, table) {
  const hasUntrained = table.rows.some((row) => row.model === "untrained");
  return (
    "With dots: the trained model, on random sequences that repeat after so many tokens." +
    (hasUntrained ? " Thin, without: the same heads before training." : "") +
    (run.about.periods ? " Shaded: periods it was trained on." : "") +
    " A head that looks a fixed distance back scores high at its own period alone; an induction head at every one."
  );
}
