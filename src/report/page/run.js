// The run's data as the other modules read them: see include/tapehead/report/page_data.h for what is in them.

import { csvParseRows } from "d3-dsv";

/** Written by a training from its first step to its last; no command makes them without it. */
export const TABLES_OF_TRAINING = ["metrics", "heads", "floors"];

/** A table of the run. An empty cell is NaN as a number. */
export class Table {
  constructor({ name, csv, command }) {
    this.name = name;
    this.command = command;
    const [columns, ...rows] = csvParseRows(csv);
    this.columns = columns;
    this.rows = rows.map((cells) => Object.fromEntries(columns.map((column, i) => [column, cells[i]])));
  }
  number(row, column) {
    const cell = row[column];
    return cell === undefined || cell === "" ? NaN : Number(cell);
  }
  numbers(column) {
    return this.rows.map((row) => this.number(row, column));
  }
  has(column) {
    return this.columns.includes(column);
  }
}

/** Whole numbers of 16 bits in base64, times a scale: see include/tapehead/report/packed.h. */
export function unpack({ scale, data }) {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  const words = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 2 }, (_, i) => {
    const whole = words.getInt16(2 * i, true);
    return whole === -32768 ? NaN : whole * scale;
  });
}

/** What every head looked at, sequence by sequence and checkpoint by checkpoint. */
class Attention {
  constructor(document, { layers, heads }) {
    this.steps = document.steps;
    this.checkpoints = document.checkpoints;
    this.positions = document.positions;
    this.ofPositions = document.of_positions;
    this.sequences = document.sequences;
    this.layers = layers;
    this.heads = heads;
    this.packed = document.weights;
    this.unpacked = document.weights.map(() => null);
  }
  /** The weights of one map, a row a query: weight(query, key) for key <= query. */
  map(checkpoint, sequence, layer, head) {
    this.unpacked[checkpoint] ??= unpack(this.packed[checkpoint]);
    const weights = this.unpacked[checkpoint];
    const size = (this.positions * (this.positions + 1)) / 2;
    const start = ((sequence * this.layers + layer) * this.heads + head) * size;
    return (query, key) => weights[start + (query * (query + 1)) / 2 + key];
  }
}

export function readRun(text) {
  const document = JSON.parse(text);
  const tables = new Map();
  for (const table of document.tables) if (table.csv) tables.set(table.name, new Table(table));
  return {
    about: document.run,
    madeBy: document.made_by,
    tables: document.tables,
    verdict: document.verdict,
    formation: document.formation,
    scores: document.scores ?? [],
    ablation: document.ablation,
    circuits: document.circuits,
    attention: document.attention ? new Attention(document.attention, document.run) : null,
    /** The table of that name, or null where the run has none yet. */
    table: (name) => tables.get(name) ?? null,
    /** The command that makes a table. */
    command: (name) => document.tables.find((table) => table.name === name).command,
    headNames: () => {
      const names = [];
      for (let layer = 0; layer < document.run.layers; ++layer)
        for (let head = 0; head < document.run.heads; ++head)
          names.push({ layer, head, name: `${layer}.${head}` });
      return names;
    },
  };
}
