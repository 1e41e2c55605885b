// Losses, accuracy and head scores over the steps of the training.

import { bisectCenter as nearestIndex } from "d3-array";
import { element, fill, missing } from "./dom.js";
import { choice } from "./choice.js";
import { figure, key } from "./figure.js";
import { floorKeys, floorLevels } from "./floors.js";
import { formationInWords } from "./formation.js";
import { headColour, headDash } from "./palette.js";
import { drawPanels, pointAt } from "./panels.js";
import { showPeriods } from "./periods.js";
import { definitionOf, scoreNames } from "./scores.js";
import { fixed, grouped, percent, words } from "./words.js";

const LOSSES = [
  { column: "loss_induction", name: "induction", colour: "var(--induction)" },
  { column: "loss_noise", name: "noise", colour: "var(--noise)" },
  { column: "loss", name: "all positions", colour: "var(--ink)" },
];
const MOST_KEYS = 8;

export function showTraining(content, run, moment) {
  const metrics = run.table("metrics");
  if (!metrics) {
    missing(content, "Losses and scores", run.command("metrics"));
    return;
  }
  new Curves(content, run, moment, metrics);
  const scores = run.table("scores");
  if (scores) showPeriods(content, run, scores);
  else if (run.about.layers > 0) missing(content, "Scores at other periods", run.command("scores"));
}

/** The curves of a table with a row a step, or a row a head and step. */
function pointsOf(table, column, rows = table.rows) {
  return rows.map((row) => [table.number(row, "step"), table.number(row, column)]);
}

class Curves {
  constructor(content, run, moment, metrics) {
    this.run = run;
    this.moment = moment;
    this.metrics = metrics;
    this.heads = run.table("heads");
    this.isLogarithmic = true;
    this.score = "induction";
    this.steps = metrics.numbers("step");
    this.headRows = new Map(run.headNames().map(({ name }) => [name, []]));
    for (const row of this.heads?.rows ?? []) this.headRows.get(`${row.layer}.${row.head}`)?.push(row);

    this.figure = figure(content, {
      title: "Loss, accuracy and head scores",
      draw: (body, width) => this.draw(body, width),
      caption: this.caption(),
    });
    this.readout = element("p", { class: "readout", "aria-live": "polite" });
    this.keys = element("div", { class: "legend" });
    this.scoreKeys = element("div", { class: "legend" });
    this.scoreText = element("p", { class: "small" });
    this.figure.legend.replaceWith(this.readout, this.keys);
    this.figure.body.after(this.scoreKeys, this.scoreText);
    this.addControls();
    this.addKeyboard();
    this.makeKeys();
    moment.subscribe(() => this.read());
  }

  addControls() {
    choice(this.figure.controls, {
      label: "Steps",
      value: "log",
      options: [
        ["log", "logarithmic"],
        ["linear", "linear"],
      ],
      onchange: (value) => {
        this.isLogarithmic = value === "log";
        this.figure.redraw();
      },
    });
    if (!this.heads) return;
    choice(this.figure.controls, {
      label: "Score",
      value: this.score,
      options: scoreNames(this.run, this.heads).map((name) => [name, words(name)]),
      onchange: (value) => {
        this.score = value;
        this.makeKeys();
        this.figure.redraw();
      },
    });
  }

  /** Arrow keys read the curves evaluation by evaluation. */
  addKeyboard() {
    const { body } = this.figure;
    body.tabIndex = 0;
    body.setAttribute("role", "slider");
    body.setAttribute("aria-label", "Step at which the curves are read");
    body.setAttribute("aria-valuemin", this.steps[0]);
    body.setAttribute("aria-valuemax", this.steps.at(-1));
    body.addEventListener("keydown", (event) => {
      const here = this.nearest(this.moment.step);
      const moves = {
        ArrowLeft: here - 1,
        ArrowRight: here + 1,
        PageDown: here - 10,
        PageUp: here + 10,
        Home: 0,
        End: this.steps.length - 1,
      };
      if (!(event.key in moves)) return;
      event.preventDefault();
      this.moment.point(this.steps[Math.max(0, Math.min(this.steps.length - 1, moves[event.key]))]);
    });
    body.addEventListener("blur", () => this.moment.point(null));
  }

  /** Which evaluation is nearest to a step. */
  nearest(step) {
    return nearestIndex(this.steps, step);
  }

  get losses() {
    return LOSSES.filter(({ column }) => this.metrics.numbers(column).some(Number.isFinite));
  }

  /** A key a curve, each with room for the value that is read. */
  makeKeys() {
    const losses = this.losses.map((loss) => ({ ...key(loss), points: pointsOf(this.metrics, loss.column) }));
    this.lossKeys = losses;
    fill(this.keys, ...losses.map((loss) => loss.root), ...floorKeys(this.run));
    fill(this.scoreKeys);
    this.headKeys = [];
    if (!this.heads) return;
    const ends = this.run.headNames().map((head) => {
      const points = pointsOf(this.heads, this.score, this.headRows.get(head.name));
      return { ...head, points, last: points.at(-1)?.[1] ?? NaN };
    });
    ends.sort((a, b) => (b.last || -Infinity) - (a.last || -Infinity));
    this.headKeys = ends.slice(0, MOST_KEYS).map((head) => ({
      ...key({
        name: `head ${head.name}`,
        colour: headColour(this.run, head.layer, head.head),
        dash: headDash(this.run, head.layer, head.head),
      }),
      points: head.points,
    }));
    fill(
      this.scoreKeys,
      ...this.headKeys.map((head) => head.root),
      ends.length > MOST_KEYS ? `and ${ends.length - MOST_KEYS} lower ones` : "",
    );
    fill(
      this.scoreText,
      element("strong", {}, words(this.score)),
      `: ${definitionOf(this.run, this.score).text}.`,
    );
    if (this.showReading) this.read();
  }

  lossPanel(height) {
    const levels = floorLevels(this.run, LOSSES);
    const values = [
      ...this.losses.flatMap(({ column }) => this.metrics.numbers(column)),
      ...levels.map(({ y }) => y),
    ];
    const highest = Math.max(...values.filter(Number.isFinite));
    const curves = this.losses.map((loss) => ({ ...loss, points: pointsOf(this.metrics, loss.column) }));
    const { bump, hump } = this.run.formation ?? {};
    const last = this.steps.at(-1);
    if (bump)
      curves.unshift({
        points: pointsOf(this.metrics, "loss").filter(
          ([step]) => step >= bump.start && step <= (bump.end ?? last),
        ),
        colour: "var(--bump)",
        width: 9,
        isSilent: true,
      });
    if (hump)
      curves.push({
        points: [
          [hump.start, hump.level],
          [hump.end ?? last, hump.level],
        ],
        colour: "var(--noise)",
        dash: "1 3",
        width: 1.2,
        isSilent: true,
      });
    return { label: "loss (nats)", height, domain: [0, highest * 1.04], curves, levels };
  }

  accuracyPanel(height) {
    const points = pointsOf(this.metrics, "accuracy_induction");
    return {
      label: "accuracy on induction positions",
      height,
      domain: [0, 1],
      curves: [{ points, colour: "var(--induction)" }],
    };
  }

  scorePanel(height) {
    const { domain, chance } = definitionOf(this.run, this.score);
    const curves = this.run.headNames().map(({ layer, head, name }) => ({
      points: pointsOf(this.heads, this.score, this.headRows.get(name)),
      colour: headColour(this.run, layer, head),
      dash: headDash(this.run, layer, head),
    }));
    const highest = Math.max(
      0.1,
      ...curves.flatMap(({ points }) => points.map(([, y]) => y)).filter(Number.isFinite),
    );
    return {
      label: `${words(this.score)} score`,
      height,
      domain: domain ?? [0, highest * 1.05],
      curves,
      levels:
        chance === undefined || chance === null ? [] : [{ y: chance, colour: "var(--grey)", dash: "6 4" }],
    };
  }

  draw(body, width) {
    const { formation } = this.run;
    const last = Math.max(this.steps.at(-1), 1);
    const first = this.isLogarithmic ? (this.steps.find((step) => step > 0) ?? 1) : 0;
    const hasAccuracy = this.metrics.numbers("accuracy_induction").some(Number.isFinite);
    const panels = [this.lossPanel(width < 500 ? 200 : 250)];
    if (hasAccuracy) panels.push(this.accuracyPanel(80));
    if (this.heads) panels.push(this.scorePanel(width < 500 ? 150 : 180));
    const window = formation?.onset != null ? [[formation.onset, formation.done ?? last]] : [];
    this.showReading = drawPanels(body, width, {
      panels,
      x: {
        label: `training step (${grouped(this.run.about.tokens_a_step)} tokens each)`,
        domain: [first, first < last ? last : first + 1],
        isLogarithmic: this.isLogarithmic && first < last,
        shaded: window,
        marks: this.moment.steps,
      },
      describe: this.describe(),
      onpoint: (step) => this.moment.point(step === null ? null : this.steps[this.nearest(step)]),
      onpick: (step) => this.moment.goToStep(step),
    });
    this.read();
  }

  describe() {
    const losses = this.losses.map(({ name, column }) => {
      const values = this.metrics.numbers(column).filter(Number.isFinite);
      return `loss on ${name} from ${fixed(values[0], 2)} to ${fixed(values.at(-1), 2)} nats`;
    });
    return (
      `Curves over ${grouped(this.steps.at(-1))} training steps: ${losses.join(", ")}. ` +
      "Their numbers are in the tables metrics and heads."
    );
  }

  caption() {
    const parts = [
      `Small triangles mark the ${this.moment.steps.length} checkpoints; a click takes the attention below to the ` +
        "nearest. A logarithmic axis begins at the first evaluation after step 0.",
      ...formationInWords(this.run.formation, this.steps.at(-1)),
    ];
    if (this.run.table("floors"))
      parts.push("Dashed: what the best predictors of a kind lose, on induction / noise.");
    return [parts.join(" ")];
  }

  /** Puts the values at the moment's step into the keys. */
  read() {
    const step = this.moment.step;
    const row = this.metrics.rows[this.nearest(step)];
    const there = this.metrics.number(row, "step");
    for (const { number, points } of [...this.lossKeys, ...this.headKeys])
      number.textContent = fixed(pointAt(points, there)?.[1] ?? NaN);
    const accuracy = this.metrics.number(row, "accuracy_induction");
    fill(
      this.readout,
      element("strong", {}, `step ${grouped(there)}`),
      ` · ${grouped(this.metrics.number(row, "tokens"))} tokens` +
        (Number.isFinite(accuracy) ? ` · accuracy ${percent(accuracy)}` : ""),
    );
    this.figure.body.setAttribute("aria-valuenow", there);
    this.figure.body.setAttribute(
      "aria-valuetext",
      [
        `step ${there}`,
        ...this.losses.map(({ name, column }) => `${name} ${fixed(this.metrics.number(row, column))}`),
      ].join(", "),
    );
    this.showReading?.(step);
  }
}
