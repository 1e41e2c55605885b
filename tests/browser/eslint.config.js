// What a reader of the page's modules may rely on: every name is known, and none is idle.
import js from "@eslint/js";

const ofThePage = [
  "Blob",
  "ResizeObserver",
  "URL",
  "ImageData",
  "atob",
  "clearInterval",
  "document",
  "getComputedStyle",
  "setInterval",
  "setTimeout",
  "window",
];
// Some of what drives a browser runs in node, some in the page.
const ofTests = [
  "Node",
  "NodeFilter",
  "SVGElement",
  "document",
  "getComputedStyle",
  "process",
  "requestAnimationFrame",
  "window",
];
const globals = (names) => Object.fromEntries(names.map((name) => [name, "readonly"]));

export default [
  js.configs.recommended,
  { rules: { eqeqeq: ["error", "always", { null: "ignore" }], "prefer-const": "error", "no-var": "error" } },
  { files: ["**/report/page/*.js"], languageOptions: { globals: globals(ofThePage) } },
  { files: ["**/browser/**/*.js"], languageOptions: { globals: globals(ofTests) } },
];
