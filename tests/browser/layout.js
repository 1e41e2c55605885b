// What a reader's eye would stumble over: text upon text, text cut off, text too pale, pictures without words.

/** Runs in the page. Pairs of texts that overlap, and texts beyond the page's width. */
export function crowdedTexts() {
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (
      node.textContent.trim() === "" ||
      parent.closest("script, style, noscript, option, .skip, .scroll, pre")
    )
      continue;
    if (!parent.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    // A line of text is as high as its letters, not as its line: less the space above and below, or beside it where
    // it is turned.
    const isTurned = parent.getAttribute("transform")?.includes("rotate(-90)");
    for (const box of range.getClientRects()) {
      const slack = Math.min((isTurned ? box.width : box.height) * 0.22, 5);
      const [beside, above] = isTurned ? [slack, 0.5] : [0.5, slack];
      if (box.width > 0.5 && box.height > 0)
        texts.push({
          text: node.textContent.trim().slice(0, 40),
          left: box.left + beside,
          right: box.right - beside,
          top: box.top + above,
          bottom: box.bottom - above,
          parent,
        });
    }
  }
  const faults = [];
  const width = document.documentElement.clientWidth;
  for (const text of texts)
    if ((text.left < -1 || text.right > width + 1) && !text.parent.closest(".small-maps"))
      faults.push(
        `'${text.text}' stands beyond the page, from ${text.left.toFixed(0)} to ${text.right.toFixed(0)}`,
      );
  texts.sort((a, b) => a.top - b.top);
  for (let i = 0; i < texts.length; ++i)
    for (let j = i + 1; j < texts.length && texts[j].top < texts[i].bottom; ++j) {
      const [a, b] = [texts[i], texts[j]];
      if (a.left < b.right && b.left < a.right && a.top < b.bottom)
        faults.push(`'${a.text}' and '${b.text}' overlap`);
    }
  if (document.documentElement.scrollWidth > width + 1)
    faults.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${width}`);
  return [...new Set(faults)];
}

/** Runs in the page. Texts of a picture that its edge cuts off. */
export function cutTexts() {
  return [...document.querySelectorAll("svg text")]
    .filter((text) => {
      const [box, picture] = [text, text.ownerSVGElement].map((it) => it.getBoundingClientRect());
      return box.width > 0 && (box.left < picture.left - 1 || box.right > picture.right + 1);
    })
    .map((text) => text.textContent);
}

/** Runs in the page. Pictures that have no text in their place. */
export function wordlessPictures() {
  return [...document.querySelectorAll("svg, canvas, img, [role=img]")]
    .filter(
      (picture) =>
        picture.closest("[aria-hidden=true]") === null && !picture.getAttribute("aria-label")?.trim(),
    )
    .map((picture) => picture.outerHTML.slice(0, 120));
}

/** Runs in the page. Texts with less contrast to their ground than 4.5 to 1 (WCAG 2.1, criterion 1.4.3). */
export function paleTexts() {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const groundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const faults = [];
  for (const element of document.querySelectorAll(
    "p, span, li, a, summary, legend, button, td, th, h1, h2, h3, code, label, figcaption, svg text",
  )) {
    const hasText = [...element.childNodes].some(
      (node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim(),
    );
    // What is pale on purpose: tokens after the query. Numbers in cells are checked with their cells, by eye.
    if (!hasText || element.closest(".later, .heat-map") || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const ink = rgba(element instanceof SVGElement ? style.fill : style.color);
    const [light, dark] = [luminance(ink), luminance(groundOf(element))].sort((a, b) => b - a);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5) faults.push(`'${element.textContent.trim().slice(0, 30)}' ${contrast.toFixed(2)}`);
  }
  return [...new Set(faults)];
}

/** Runs in the page. The contrasts of the numbers that stand in cells of maps to their cells. */
export function contrastsInCells() {
  const luminance = (rgb) => {
    const [r, g, b] = [...rgb].slice(0, 3).map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  return [...document.querySelectorAll(".heat-map .numbers text")].map((text) => {
    const canvas = text.closest(".heat-map").querySelector("canvas");
    const [x, y] = ["x", "y"].map((at) => Number(text.getAttribute(at)) * window.devicePixelRatio);
    pixel.drawImage(canvas, x, y, 1, 1, 0, 0, 1, 1);
    const cell = luminance(pixel.getImageData(0, 0, 1, 1).data);
    const ink = luminance(getComputedStyle(text).fill.match(/\d+/g).map(Number));
    return (Math.max(cell, ink) + 0.05) / (Math.min(cell, ink) + 0.05);
  });
}
