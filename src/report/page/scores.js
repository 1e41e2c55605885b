// The scores of heads: which a table has, and what each means.

import { fixed } from "./words.js";

/** The names of the scores that a table has, in the order of their definitions. */
export function scoreNames(run, table) {
  const names = run.scores.map((score) => score.name).filter((name) => table.has(name));
  return table.has("k_composition") ? [...names, "k_composition"] : names;
}

/** What a score means, and between what it lies; null where that is not known. */
export function definitionOf(run, name) {
  if (name === "k_composition")
    return {
      domain: null,
      text: "the largest score by which a head's keys compose with an earlier head's output",
    };
  const { definition, chance } = run.scores.find((score) => score.name === name);
  return {
    domain: name === "copying" ? [-1, 1] : [0, 1],
    chance,
    text: `${definition}; an even head scores ${fixed(chance)} (dashed in grey), the ceiling is 1`,
  };
}
