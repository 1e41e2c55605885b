// Losses, accuracy and head scores over the steps of the training.

import { bisectCenter as nearestIndex } from "d3-array";
import { element, fill, missing } from "./dom.js";
import { choice } from "./choice.js";
import { figure, key } from "./figure.js";
import { CHANCE_DASH, floorsInWords } from "./floors.js";
import { copyingWindow, formationInWords } from "./formation.js";
import { levelKeys, lossCurves, lossPanel, pointsOf } from "./loss_panel.js";
import { headColour, headDash } from "./palette.js";
import { drawPanels, pointAt } from "./panels.js";
import { showPeriods } from "./periods.js";
import { definitionOf, scoreNames } from "./scores.js";
import { counted, fixed, grouped, list, percent, words } from "./words.js";

const MOST_KEYS = 8;

export function showTraining(content, run, moment) {
  const metrics = run.table("metrics");
  if (!metrics) {
    const command = run.command("metrics");
    if (command) missing(content, "Losses and scores", command);
    else
      content.append(element("p", { class: "missing" }, "The run holds nothing of this model's training."));
    return;
  }
  new Curves(content, run, moment, metrics);
  const scores = run.table("scores");
  if (scores) showPeriods(content, run, scores);
  else if (run.about.layers > 0) missingPeriods(content, run.command("scores"));
}

function missingPeriods(content, command) {
  if (command) missing(content, "Scores at other periods", command);
  else
    content.append(
      element("p", { class: "missing" }, "This run's sequences are too short for scores at other periods."),
    );
}

class Curves {
  constructor(content, run, moment, metrics) {
    this.run = run;
    this.moment = moment;
    this.metrics = metrics;
    this.heads = run.table("heads");
    this.score = "induction";
    this.steps = metrics.numbers("step");
    // Step 0 has no place on a logarithmic axis.
    this.hasLogarithm = this.steps.filter((step) => step > 0).length > 1;
    this.isLogarithmic = this.hasLogarithm;
    this.marks = run.attention && moment.steps.length > 1 ? moment.steps : [];
    this.hasAccuracy = metrics.numbers("accuracy_induction").some(Number.isFinite);
    this.losses = lossCurves(metrics);
    this.headRows = new Map(run.headNames().map(({ name }) => [name, []]));
    for (const row of this.heads?.rows ?? []) this.headRows.get(`${row.layer}.${row.head}`)?.push(row);

    this.figure = figure(content, {
      title: list([
        "Loss",
        ...(this.hasAccuracy ? ["accuracy"] : []),
        ...(this.heads ? ["head scores"] : []),
      ]),
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
    if (this.hasLogarithm)
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

  /** The first and the last step of the axis. */
  get domain() {
    const first = this.isLogarithmic ? this.steps.find((step) => step > 0) : 0;
    return [first, Math.max(this.steps.at(-1), 1)];
  }

  /** A key a curve, each with room for the value that is read. */
  makeKeys() {
    this.lossKeys = this.losses.map((loss) => ({ ...key(loss), points: loss.points }));
    fill(this.keys, ...this.lossKeys.map((loss) => loss.root), ...levelKeys(this.run));
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
      ends.length > MOST_KEYS ? `and ${counted(ends.length - MOST_KEYS, "lower one")}` : "",
    );
    fill(
      this.scoreText,
      element("strong", {}, words(this.score)),
      `: ${definitionOf(this.run, this.score).text}.`,
    );
    if (this.showReading) this.read();
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
    const shown = curves.flatMap(({ points }) => points.filter(([step]) => step >= this.domain[0]));
    const highest = Math.max(0.1, ...shown.map(([, y]) => y).filter(Number.isFinite));
    return {
      label: `${words(this.score)} score`,
      height,
      domain: domain ?? [0, highest * 1.05],
      curves,
      levels:
        chance === undefined || chance === null
          ? []
          : [{ y: chance, colour: "var(--grey)", dash: CHANCE_DASH }],
    };
  }

  draw(body, width) {
    const panels = [lossPanel(this.run, this.metrics, this.domain, width < 500 ? 200 : 250)];
    if (this.hasAccuracy) panels.push(this.accuracyPanel(80));
    if (this.heads) panels.push(this.scorePanel(width < 500 ? 150 : 180));
    const window = copyingWindow(this.run, this.domain[1]);
    this.showReading = drawPanels(body, width, {
      panels,
      x: {
        label: `training step (${counted(this.run.about.tokens_a_step, "token")} each)`,
        domain: this.domain,
        isLogarithmic: this.isLogarithmic,
        shaded: window ? [window] : [],
        marks: this.marks,
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
      `Curves over ${counted(this.steps.at(-1), "training step")}: ${losses.join(", ")}. ` +
      `Their numbers are in the ${this.heads ? "tables metrics and heads" : "table metrics"}.`
    );
  }

  caption() {
    const sentences = [];
    if (this.marks.length > 0)
      sentences.push("Small triangles mark checkpoints; a click takes the attention below to the nearest.");
    if (this.hasLogarithm) sentences.push("A logarithmic axis begins at the first evaluation after step 0.");
    sentences.push(...formationInWords(this.run, this.steps.at(-1)), ...floorsInWords(this.run));
    return [sentences.join(" ")];
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
      ` · ${counted(this.metrics.number(row, "tokens"), "token")}` +
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
