// One of several: buttons in a row where they are few, a list to open where they are many.

import { element, freshId } from "./dom.js";

const MOST_BUTTONS = 6;

/**
 * `options` are [value, label] pairs; `onchange(value)` is called for every choice but the first. Returns
 * show(value), which shows another as chosen.
 */
export function choice(parent, { label, options, value, onchange }) {
  const make = options.length > MOST_BUTTONS ? menu : buttons;
  const { root, show } = make(label, options, value, onchange);
  parent.append(root);
  return show;
}

function buttons(label, options, value, onchange) {
  const name = freshId("choice");
  const radios = options.map(([option, text]) =>
    element(
      "label",
      {},
      element("input", {
        type: "radio",
        name,
        value: option,
        checked: option === value,
        onchange: () => onchange(option),
      }),
      element("span", {}, text),
    ),
  );
  return {
    root: element(
      "fieldset",
      { class: "choice" },
      element("legend", {}, label),
      element("span", {}, ...radios),
    ),
    show: (chosen) =>
      options.forEach(([option], i) => (radios[i].querySelector("input").checked = option === chosen)),
  };
}

function menu(label, options, value, onchange) {
  const select = element(
    "select",
    { onchange: () => onchange(options[select.selectedIndex][0]) },
    ...options.map(([option, text]) =>
      element("option", { value: option, selected: option === value }, text),
    ),
  );
  return {
    root: element("label", { class: "choice" }, label, " ", select),
    show: (chosen) => (select.selectedIndex = options.findIndex(([option]) => option === chosen)),
  };
}

/** A box to tick. */
export function tick(parent, { label, checked, onchange }) {
  const box = element("input", { type: "checkbox", checked, onchange: () => onchange(box.checked) });
  parent.append(element("label", { class: "tick" }, box, " ", label));
}
