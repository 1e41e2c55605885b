// Elements of the page. All text goes in as text: nothing that a run's files hold can become markup.

/** element("p", { class: "note" }, "text", child, ...) */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Puts children in place of what an element holds. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children);
  return parent;
}

let count = 0;
/** An id that nothing else on the page has. */
export function freshId(stem) {
  return `${stem}-${++count}`;
}

/** Says which command makes what is not there yet, and where it may fail, in a sentence, on what that depends. */
export function missing(parent, what, command, condition = "") {
  const state = condition ? `not in this run's tables. ${condition} ` : "not measured yet. ";
  parent.append(element("p", { class: "missing" }, `${what}: ${state}`, element("code", {}, command)));
}
