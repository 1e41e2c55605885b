// Of many components the strongest alone, until somebody asks for all.

import { element } from "./dom.js";

/**
 * Returns shown(), those of `items` to show, in their order: all, or the `most` of the largest `size(item)`, and then
 * a button in the figure's controls shows all.
 */
export function strongest(made, items, most, size) {
  if (items.length <= most) return () => items;
  const largest = new Set([...items].sort((a, b) => size(b) - size(a)).slice(0, most));
  let shown = items.filter((item) => largest.has(item));
  const all = element(
    "button",
    {
      type: "button",
      onclick: () => {
        shown = items;
        all.remove();
        made.redraw();
      },
    },
    `The ${most} strongest of ${items.length}: show all`,
  );
  made.controls.append(all);
  return () => shown;
}
