// OV, QK and K-composition of one head as a map over tokens or positions.

import { element, fill } from "./dom.js";
import { choice } from "./choice.js";
import { colourScale } from "./colour_scale.js";
import { figure } from "./figure.js";
import { HeatMap } from "./heat_map.js";
import { shareRamp, signedRamp } from "./palette.js";
import { unpack } from "./run.js";
import { change, fixed } from "./words.js";

const MAPS = {
  ov: {
    label: "OV",
    rows: "token attended to",
    columns: "token whose logit changes",
    text: "Full OV, W_E W_V W_O W_U: what a token that is looked at does to every logit. A copying head has its diagonal in blue.",
  },
  qk_tokens: {
    label: "QK, tokens",
    rows: "query",
    columns: "key",
    text: "W_E W_Q W_Kᵀ W_Eᵀ/√D: which tokens look at which, straight from the embedding.",
  },
  qk_positions: {
    label: "QK, positions",
    rows: "query position",
    columns: "key position",
    text: "The causal softmax of W_pos W_Q W_Kᵀ W_posᵀ/√D: where the head would look by position alone.",
  },
  k_composition: {
    label: "K-composition",
    rows: "query",
    columns: "token copied by the earlier head",
    text:
      "(W_E W_Q)(W_E W_V W_O W_K)ᵀ/√D: which query looks for what the earlier head has copied to a key. " +
      "An induction head has its diagonal in blue.",
  },
};

export function showMaps(content, run) {
  const { signs, positions, of_positions: ofPositions, maps } = run.circuits;
  const headOf = (map) => `${map.layer}.${map.head}`;
  let current = maps.find((map) => map.layer === run.about.layers - 1);
  const values = new Map();
  const sample =
    signs.length < run.about.vocabulary
      ? ` A sample of ${signs.length} of ${run.about.vocabulary} tokens.`
      : "";
  const cut = positions < ofPositions ? ` The first ${positions} of ${ofPositions} positions.` : "";
  const readout = element("p", { class: "readout", "aria-live": "polite" });
  const note = element("p", { class: "small" });
  const made = figure(content, {
    title: "What a head's weights do",
    caption: [note],
    draw(body, width) {
      const map = current;
      if (!values.has(map)) values.set(map, unpack(map.values));
      const numbers = values.get(map);
      const byPosition = map.kind === "qk_positions";
      const labels = byPosition ? Array.from({ length: positions }, (_, i) => String(i)) : signs;
      const extent = Math.max(...numbers.map(Math.abs), 1e-12);
      const [signedColours, shares] = [signedRamp(), shareRamp()];
      const { rows: rowName, columns: columnName, text } = MAPS[map.kind];
      const value = (row, column) =>
        byPosition && column > row ? null : numbers[row * labels.length + column];
      body.replaceChildren();
      new HeatMap(body, {
        rows: labels,
        columns: labels,
        rowName,
        columnName,
        value,
        colour: byPosition ? shares.css : (x) => signedColours.css(x / extent),
        onpoint: (row, column) =>
          fill(
            readout,
            element("strong", {}, `${labels[row]} → ${labels[column]}`),
            ` ${change(value(row, column))}`,
          ),
        describe: () => describeMap(map, numbers, labels.length),
      }).draw(width, { most: 11 });
      body.append(
        byPosition
          ? colourScale("share", "weight", "0", "1")
          : colourScale("signed", "value", change(-extent, 2), change(extent, 2)),
      );
      fill(readout, describeMap(map, numbers, labels.length));
      fill(note, text, byPosition ? cut : sample);
    },
  });
  made.legend.replaceWith(readout);
  const show = (map) => {
    current = map;
    showHead(headOf(map));
    showKind(map.kind);
    made.redraw();
  };
  // Not every head has every map: then the head that is asked for shows another, or the map another head's.
  const showHead = choice(made.controls, {
    label: "Head",
    value: headOf(current),
    options: run.headNames().map(({ name }) => [name, name]),
    onchange: (head) => {
      const there = maps.filter((map) => headOf(map) === head);
      show(there.find(({ kind }) => kind === current.kind) ?? there[0]);
    },
  });
  const kinds = Object.keys(MAPS).filter((kind) => maps.some((map) => map.kind === kind));
  const showKind = choice(made.controls, {
    label: "Map",
    value: current.kind,
    options: kinds.map((kind) => [kind, MAPS[kind].label]),
    onchange: (kind) => {
      const there = maps.filter((map) => map.kind === kind);
      show(there.find((map) => headOf(map) === headOf(current)) ?? there[0]);
    },
  });
}

function describeMap(
  { kind, layer, head, earlier_layer: earlierLayer, earlier_head: earlierHead },
  numbers,
  size,
) {
  const name = `${MAPS[kind].label} of head ${layer}.${head}${kind === "k_composition" ? ` through head ${earlierLayer}.${earlierHead}` : ""}`;
  if (kind === "qk_positions") {
    let sum = 0;
    for (let row = 1; row < size; ++row) sum += numbers[row * size + row - 1];
    return `${name}: mean weight on the previous position ${fixed(sum / Math.max(1, size - 1))}`;
  }
  let onTop = 0;
  for (let row = 0; row < size; ++row) {
    const line = numbers.subarray(row * size, (row + 1) * size);
    if (line.every((x, column) => column === row || x < line[row])) ++onTop;
  }
  return `${name}: the diagonal is the largest of its row for ${onTop} of ${size} tokens shown`;
}
