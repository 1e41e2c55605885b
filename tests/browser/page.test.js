// What a reader of the page sees and does, in a browser without a network.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { open, settled, startBrowser } from "./browser.js";
import { contrastsInCells, crowdedTexts, cutTexts, paleTexts, wordlessPictures } from "./layout.js";

const { PAGES, SCREENSHOTS } = process.env;
const WHOLE = join(PAGES, "page-0.html");
const ALL = [0, 1, 2, 3, 4].map((i) => join(PAGES, `page-${i}.html`));
const WIDTHS = [390, 768, 1440];
const MINUS = "\u2212";

let browser = null;
before(async () => {
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
});

/** A table of the run as its file has it. */
function table(name, run = "whole") {
  const [header, ...lines] = readFileSync(join(PAGES, run, `${name}.csv`), "utf8")
    .trim()
    .split("\n");
  const columns = header.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((cell, i) => [columns[i], cell])));
}
/** A cell as the page shows it. */
function shown(cell, digits = 3) {
  const value = Number(cell);
  return (value < 0 && Number(value.toFixed(digits)) !== 0 ? MINUS : "") + Math.abs(value).toFixed(digits);
}

/** Of a change, as many as show two digits that count, and three at least. */
const decimals = (cell) => Math.max(3, 1 - Math.floor(Math.log10(Math.abs(Number(cell)))));

/** Opens a page, lets `look` look at it, and fails on anything the browser complained of. */
async function looking(file, options, look) {
  const { page, complaints, close } = await open(browser, file, options);
  try {
    await look(page);
    assert.deepEqual(complaints, []);
  } finally {
    await close();
  }
}

const texts = (page, selector) => page.locator(selector).allTextContents();

for (const file of ALL)
  for (const colorScheme of ["light", "dark"])
    for (const width of WIDTHS)
      test(`${file.slice(-11, -5)}, ${colorScheme}, ${width} wide: no complaint, no text upon text, words for every picture`, async () => {
        await looking(file, { width, colorScheme }, async (page) => {
          assert.deepEqual(await texts(page, ".failed"), []);
          assert.deepEqual(await page.evaluate(crowdedTexts), []);
          assert.deepEqual(await page.evaluate(cutTexts), []);
          assert.deepEqual(await page.evaluate(wordlessPictures), []);
          if (width === 1440) assert.deepEqual(await page.evaluate(paleTexts), []);
          for (const details of await page.locator("details").all())
            await details.evaluate((it) => (it.open = true));
          await settled(page);
          assert.deepEqual(await page.evaluate(crowdedTexts), []);
          for (const details of await page.locator("details").all())
            await details.evaluate((it) => (it.open = false));
          if (SCREENSHOTS)
            await page.screenshot({
              path: join(SCREENSHOTS, `${file.slice(-11, -5)}-${colorScheme}-${width}.png`),
              fullPage: true,
            });
        });
      });

test("the evidence stands on the page as in the table, with the verdict's sentence", async () => {
  await looking(WHOLE, {}, async (page) => {
    const rows = table("verdict");
    assert.equal(await page.locator(".mechanism strong").textContent(), rows[0].verdict);
    assert.deepEqual(
      await texts(page, ".evidence .number"),
      rows.map(({ value }) => (value === "" ? "–" : shown(value))),
    );
    assert.deepEqual(
      await texts(page, ".evidence .rule"),
      rows.map((row) => `${row.must_be} ${shown(row.threshold)}`),
    );
    assert.ok((await page.locator(".sentence").textContent()).length > 20);
  });
});

test("a piece of evidence stands by itself, and says where nothing was measured", async () => {
  await looking(ALL[2], {}, async (page) => {
    const findings = await texts(page, ".evidence .finding");
    assert.match(findings[1], /^accuracy on induction positions at periods? .*, which it never saw$/);
    const [numbers, holding] = [
      await texts(page, ".evidence .number"),
      await texts(page, ".evidence .holding"),
    ];
    assert.ok(numbers.includes("–"));
    numbers.forEach((number, i) => assert.equal(holding[i] === "not measured", number === "–", findings[i]));
  });
});

test("curves of one evaluation or none after step 0 have a linear axis", async () => {
  await looking(ALL[4], {}, async (page) => {
    assert.equal(await page.locator("#training").getByText("logarithmic").count(), 0);
    const ticks = await texts(page, "#training figure:first-of-type .picture .axis:last-of-type .tick");
    assert.equal(ticks[0], "0");
    await page.getByRole("slider", { name: "Step at which the curves are read" }).focus();
    for (const key of ["ArrowRight", "Home", "End"]) await page.keyboard.press(key);
    assert.equal(await stepRead(page), "0");
  });
});

test("where guessing is often right, no rise of the accuracy is shaded, and the page says why", async () => {
  await looking(ALL[4], {}, async (page) => {
    const words = await page.locator("#training figcaption").first().textContent();
    assert.match(words, /Nothing is shaded: guessing among 2 tokens is right 50 % of the time/);
    assert.equal(await page.locator("#training .shade").count(), 0);
  });
});

test("a map of few rows is large enough for the names of its axes, and has a scale of its colours", async () => {
  await looking(ALL[4], {}, async (page) => {
    const figure = page.locator("#circuits figure", { hasText: "What a head's weights do" });
    const box = await figure.locator(".heat-map").boundingBox();
    assert.ok(box.width >= 220 && box.height >= 220, `${box.width} x ${box.height}`);
    const [, low, high] = (await figure.locator(".colour-scale").textContent()).match(/^value (\S+)\+(\S+)$/);
    assert.equal(low, MINUS + high);
    await figure.getByText("QK, positions").click();
    assert.equal(await figure.locator(".colour-scale").textContent(), "weight 01");
  });
});

test("the axis of the losses ends at the highest loss that is shown", async () => {
  const page = readFileSync(WHOLE, "utf8");
  const file = join(PAGES, "high.html");
  assert.match(page, /\\n0,0,[\d.]+/);
  writeFileSync(file, page.replace(/\\n0,0,[\d.]+/, "\\n0,0,99"));
  await looking(file, {}, async (opened) => {
    const highest = async () => {
      const ticks = await texts(opened, "#training figure:first-of-type .picture .axis:first-of-type .tick");
      return Math.max(...ticks.slice(0, 8).map(Number).filter(Number.isFinite));
    };
    assert.ok((await highest()) < 10);
    await opened.getByText("linear", { exact: true }).click();
    assert.ok((await highest()) > 50);
  });
});

test("the number at the end of an axis stands whole", async () => {
  const file = join(PAGES, "long.html");
  writeFileSync(file, readFileSync(WHOLE, "utf8").replace("\\n400,", "\\n2000000,"));
  await looking(file, {}, async (page) => {
    for (const axis of ["logarithmic", "linear"]) {
      await page.locator("#training").getByText(axis, { exact: true }).click();
      assert.ok((await texts(page, "#training .axis .tick")).includes("2,000,000"));
      assert.deepEqual(await page.evaluate(cutTexts), []);
    }
  });
});

test("no two keys of a legend look alike, and no number is none", async () => {
  for (const file of ALL)
    await looking(file, {}, async (page) => {
      for (const legend of await page.locator("#training .legend").all()) {
        const samples = await legend
          .locator(".key")
          .evaluateAll((keys) => keys.map((key) => key.firstChild.outerHTML));
        assert.equal(new Set(samples).size, samples.length, samples.join("\n"));
      }
      const whole = await page.locator("main").evaluate((main) => main.innerHTML);
      assert.doesNotMatch(whole, /NaN|Infinity|undefined/);
    });
});

test("a model without heads has no words about heads, and every section says what it lacks", async () => {
  await looking(ALL[3], {}, async (page) => {
    assert.doesNotMatch(await page.locator("#training").textContent(), /head|triangle|\b1 \w+s\b/);
    for (const id of ["attention", "ablation", "circuits"])
      assert.match(await page.locator(`#${id} .content`).textContent(), /has no (heads|layers)/);
  });
});

/** The values that stand in the keys of the curves, by name. */
async function readCurves(page) {
  const keys = await page
    .locator("#training figure")
    .first()
    .locator(".key")
    .evaluateAll((all) =>
      all.map((key) => [key.childNodes[1].textContent.trim(), key.querySelector("output").textContent]),
    );
  return Object.fromEntries(keys);
}

async function stepRead(page) {
  const words = await page.locator("#training .readout strong").first().textContent();
  return words.replace(/\D/g, "");
}

async function assertReadout(page) {
  const step = await stepRead(page);
  const row = table("metrics").find((there) => there.step === step);
  const values = await readCurves(page);
  assert.equal(values.induction, shown(row.loss_induction));
  assert.equal(values.noise, shown(row.loss_noise));
  assert.equal(values["all positions"], shown(row.loss));
  for (const head of table("heads").filter((there) => there.step === step))
    assert.equal(values[`head ${head.layer}.${head.head}`], shown(head.induction));
}

test("pointing at the curves reads losses and scores of that step, as in the tables", async () => {
  await looking(WHOLE, {}, async (page) => {
    const svg = page.locator("#training .picture svg").first();
    await svg.scrollIntoViewIfNeeded();
    const box = await svg.boundingBox();
    const steps = new Set();
    for (const share of [0.2, 0.5, 0.7, 0.9]) {
      await page.mouse.move(box.x + share * box.width, box.y + box.height / 2);
      await assertReadout(page);
      steps.add(await stepRead(page));
    }
    assert.equal(steps.size, 4);
    await page.getByText("linear", { exact: true }).click();
    await page.mouse.move(box.x + 0.5 * box.width, box.y + box.height / 2);
    await assertReadout(page);
    assert.ok(Math.abs(Number(await stepRead(page)) - 200) <= 20);
  });
});

test("the arrow keys read the curves evaluation by evaluation", async () => {
  await looking(WHOLE, {}, async (page) => {
    await page.getByRole("slider", { name: "Step at which the curves are read" }).focus();
    await page.keyboard.press("Home");
    assert.equal(await stepRead(page), "0");
    await page.keyboard.press("ArrowRight");
    assert.equal(await stepRead(page), "20");
    await assertReadout(page);
    await page.keyboard.press("End");
    assert.equal(await stepRead(page), "400");
    const words = await page.getByRole("slider", { name: "Step at which" }).getAttribute("aria-valuetext");
    assert.match(words, /^step 400, induction /);
  });
});

test("another score shows that score", async () => {
  await looking(WHOLE, {}, async (page) => {
    await page.locator("#training select").first().selectOption("previous_token");
    const values = await readCurves(page);
    for (const head of table("heads").filter((there) => there.step === "400"))
      assert.equal(values[`head ${head.layer}.${head.head}`], shown(head.previous_token));
  });
});

/** What the large map looks like. */
const paintOf = (page) =>
  page.locator("#attention .heat-map canvas").evaluate((canvas) => canvas.toDataURL());

test("the slider goes from checkpoint to checkpoint, and the maps with it", async () => {
  await looking(WHOLE, {}, async (page) => {
    const slider = page.getByRole("slider", { name: "Checkpoint" });
    const paints = [await paintOf(page)];
    await slider.focus();
    for (const step of ["350", "300", "250"]) {
      await page.keyboard.press("ArrowLeft");
      assert.equal(await page.locator(".film .step").textContent(), `step ${step}`);
      assert.equal(await slider.getAttribute("aria-valuetext"), `step ${step}`);
      paints.push(await paintOf(page));
    }
    assert.equal(new Set(paints).size, 4);
    await page.keyboard.press("Home");
    assert.equal(await page.locator(".film .step").textContent(), "step 0");
  });
});

test("played, the film goes from the first checkpoint to the last and stops", async () => {
  await looking(WHOLE, {}, async (page) => {
    await page.getByRole("button", { name: "Play" }).click();
    assert.equal(await page.locator(".film .step").textContent(), "step 0");
    await page.getByRole("button", { name: "Play" }).waitFor();
    assert.equal(await page.locator(".film .step").textContent(), "step 400");
  });
});

test("a click on the curves takes the maps to the nearest checkpoint", async () => {
  await looking(WHOLE, {}, async (page) => {
    await page.getByText("linear", { exact: true }).click();
    const box = await page.locator("#training .picture svg").first().boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + 100);
    assert.equal(await page.locator(".film .step").textContent(), "step 200");
  });
});

test("another head shows its map, its name and its score, with the mouse and with the keyboard", async () => {
  await looking(WHOLE, {}, async (page) => {
    const before = await paintOf(page);
    await page.getByRole("radio", { name: /^head 0\.1/ }).click();
    assert.match(await page.locator(".map-title").textContent(), /Layer 0 head 1 at step 400/);
    assert.notEqual(await paintOf(page), before);
    await page.keyboard.press("ArrowLeft");
    assert.match(await page.locator(".map-title").textContent(), /Layer 0 head 0/);
    await page.keyboard.press("ArrowDown");
    assert.match(await page.locator(".map-title").textContent(), /Layer 1 head 0/);
    const chosen = await page.locator('.small-map[aria-checked="true"]').allTextContents();
    assert.equal(chosen.length, 1);
    const row = table("heads").find(
      (there) => there.step === "400" && there.layer === "1" && there.head === "0",
    );
    const best = Math.max(
      ...["previous_token", "current_token", "first_token", "duplicate_token", "induction"].map((score) =>
        Number(row[score]),
      ),
    );
    assert.ok(chosen[0].endsWith(shown(best, 2)), chosen[0]);
  });
});

test("a token that is pointed at shows where it looks; weights of a query sum to one", async () => {
  await looking(WHOLE, {}, async (page) => {
    for (const position of [0, 7, 20]) {
      await page.locator(".token").nth(position).hover();
      assert.match(
        await page.locator("#attention .readout").textContent(),
        new RegExp(`^position ${position} \\(`),
      );
      const labels = await page
        .locator(".token")
        .evaluateAll((all) => all.map((tile) => tile.getAttribute("aria-label")));
      const weights = labels.map((label) => Number(label.match(/weight ([\d.]+)$/)?.[1] ?? 0));
      assert.ok(Math.abs(weights.reduce((sum, x) => sum + x, 0) - 1) < 0.0006 * (position + 1));
      assert.ok(weights.slice(position + 1).every((weight) => weight === 0));
    }
    await page.locator(".token").nth(20).focus();
    await page.keyboard.press("ArrowLeft");
    assert.match(await page.locator("#attention .readout").textContent(), /^position 19 /);
  });
});

test("the weights that a token shows are those that the program gives", async () => {
  const { tokens, heads } = JSON.parse(readFileSync(join(PAGES, "attention.json"), "utf8"));
  await looking(WHOLE, {}, async (page) => {
    await page.locator("#attention .choice").getByText("1", { exact: true }).click();
    await page.getByRole("slider", { name: "Checkpoint" }).focus();
    for (let i = 0; i < 3; ++i) await page.keyboard.press("ArrowLeft");
    assert.equal(await page.locator(".film .step").textContent(), "step 250");
    for (const { layer, head, pattern } of heads) {
      await page.getByRole("radio", { name: new RegExp(`^head ${layer}\\.${head}`) }).click();
      for (const query of [3, 12, tokens.length - 1]) {
        await page.locator(".token").nth(query).hover();
        const labels = await page
          .locator(".token")
          .evaluateAll((all) => all.map((tile) => tile.getAttribute("aria-label")));
        pattern[query].slice(0, query + 1).forEach((weight, key) => {
          const shownWeight = Number(labels[key].match(/weight ([\d.]+)$/)[1]);
          assert.ok(Math.abs(shownWeight - weight) < 0.00052, `${labels[key]}, and ${weight}`);
        });
      }
    }
  });
});

test("the arrow keys go from cell to cell of the map", async () => {
  await looking(WHOLE, {}, async (page) => {
    const words = () => page.locator("#attention .readout").textContent();
    const [shownBefore] = (await words()).match(/^position \d+ /);
    assert.notEqual(shownBefore, "position 0 ");
    await page.locator("#attention .heat-map").focus();
    await page.keyboard.press("ArrowDown");
    assert.ok((await words()).startsWith(shownBefore));
    for (const [key, query, at] of [
      ["Control+Home", 0, 0],
      ["ArrowDown", 1, 0],
      ["ArrowDown", 2, 0],
      ["ArrowRight", 2, 1],
      ["End", 2, 2],
      ["Home", 2, 0],
      ["Control+End", 23, 0],
    ]) {
      await page.keyboard.press(key);
      assert.match(await words(), new RegExp(`^position ${query} .* Pointed at: position ${at} `));
    }
  });
});

test("ablations, teams and patches stand on the page as in the tables", async () => {
  await looking(WHOLE, {}, async (page) => {
    const written = (figure) =>
      page.locator("#ablation figure").nth(figure).locator("svg .value").allTextContents();
    const sign = (cell) =>
      Number(cell) === 0 ? "0" : (Number(cell) > 0 ? "+" : "") + shown(cell, decimals(cell));
    const bare = (text) => text.replace(/ [≠±]$/, "");
    const rows = table("ablation");
    const inGroups = [...new Set(rows.map((row) => `${row.layer}.${row.head}`))].flatMap((name) =>
      rows.filter((row) => `${row.layer}.${row.head}` === name),
    );
    assert.deepEqual(
      (await written(0)).map(bare),
      inGroups.map((row) => sign(row.change_induction)),
    );
    await page.getByText("loss on noise", { exact: true }).click();
    assert.deepEqual(
      (await written(0)).map(bare),
      inGroups.map((row) => sign(row.change_noise)),
    );
    assert.deepEqual(
      await written(1),
      table("shapley").flatMap((row) => [sign(row.shapley), `alone ${sign(row.alone)}`]),
    );
    const patch = table("patching").find((row) => row.by === "head" && row.layer === "0" && row.head === "0");
    assert.ok(
      (await texts(page, "#ablation .numbers text")).includes(
        (Number(patch.effect) > 0 ? "+" : "") + shown(patch.effect, 2),
      ),
    );
  });
});

test("composition and copying stand on the page as in the tables", async () => {
  await looking(WHOLE, {}, async (page) => {
    const keys = table("composition").filter((row) => row.composition === "K");
    assert.deepEqual(
      (await page.locator("#circuits .heat-map").first().locator(".numbers text").allTextContents()).sort(),
      keys.map((row) => shown(row.score)).sort(),
    );
    const caption = await page.locator("#circuits figcaption").nth(2).textContent();
    for (const row of table("circuits"))
      assert.ok(caption.includes(`${row.layer}.${row.head} ${shown(row.copying_eigenvalues)}`), caption);
    await page.getByText("K-composition", { exact: true }).click();
    assert.match(
      await page.locator("#circuits .readout").nth(1).textContent(),
      /^K-composition of head 1\.0 through head 0\.\d/,
    );
  });
});

test("a head and a map that do not go together give way to each other, and the controls say so", async () => {
  await looking(WHOLE, {}, async (page) => {
    const figure = page.locator("#circuits figure", { hasText: "What a head's weights do" });
    const state = async () => [
      ...(await figure.locator("input:checked + span").allTextContents()),
      (await figure.locator(".readout").textContent()).split(":")[0],
    ];
    await figure.getByText("K-composition", { exact: true }).click();
    assert.deepEqual((await state()).slice(0, 2), ["1.0", "K-composition"]);
    await figure.getByText("0.1", { exact: true }).click();
    assert.deepEqual(await state(), ["0.1", "OV", "OV of head 0.1"]);
    await figure.getByText("K-composition", { exact: true }).click();
    const [head, map, words] = await state();
    assert.deepEqual([head, map], ["1.0", "K-composition"]);
    assert.match(words, /^K-composition of head 1\.0 through head 0\.\d$/);
  });
});

for (const colorScheme of ["light", "dark"])
  test(`numbers in cells are easy to read on their colours, ${colorScheme}`, async () => {
    await looking(WHOLE, { colorScheme }, async (page) => {
      const contrasts = await page.evaluate(contrastsInCells);
      assert.ok(contrasts.length >= 8);
      assert.ok(Math.min(...contrasts) >= 4.5, contrasts.join(" "));
    });
  });

test("an id that the text does not use stands as its number in the maps of weights", async () => {
  await looking(ALL[2], {}, async (page) => {
    const labels = await texts(page, "#circuits .heat-map .labels text");
    assert.ok(labels.includes("#63"), labels.join(" "));
    assert.ok(labels.includes("↵"), labels.join(" "));
  });
});

test("where measuring may fail, the page says on what that depends", async () => {
  await looking(ALL[1], {}, async (page) => {
    const words = (await texts(page, "#ablation .missing")).join("\n");
    assert.match(words, /only if the model copies; its accuracy on induction positions is [\d.]+ %/);
  });
  await looking(ALL[3], {}, async (page) => {
    assert.match((await texts(page, "#ablation .missing")).join(""), /has no heads/);
  });
});

test("of many components the strongest are shown, and all for the asking", async () => {
  const page = readFileSync(WHOLE, "utf8");
  const [, data] = page.match(/id="data">(.*?)<\/script>/s);
  const document = JSON.parse(data);
  const attribution = document.tables.find(({ name }) => name === "attribution");
  const [head] = attribution.csv.match(/^head.*induction.*$/m);
  for (let layer = 2; layer < 32; ++layer) attribution.csv += `${head.replace(/,\d+,/, `,${layer},`)}\n`;
  const file = join(PAGES, "many.html");
  writeFileSync(
    file,
    page.replace(data, () => JSON.stringify(document).replaceAll("<", "\\u003c")),
  );
  await looking(file, {}, async (opened) => {
    const figure = opened.locator("#circuits figure", { hasText: "What adds to the right token's logit" });
    assert.equal(await figure.locator("svg .name").count(), 16);
    assert.ok((await figure.locator("svg .name").allTextContents()).includes("sum"));
    await figure.getByRole("button", { name: /^The 16 strongest of \d+: show all$/ }).click();
    assert.ok((await figure.locator("svg .name").count()) > 30);
    assert.equal(await figure.getByRole("button").count(), 0);
  });
});

test("marks over columns that are narrow do not run together", async () => {
  await looking(WHOLE, { width: 200 }, async (page) => {
    const flags = await page
      .locator(".heat-map")
      .evaluateAll((maps) =>
        maps.map((map) => [...map.querySelectorAll(".flag")].map((flag) => flag.getBoundingClientRect().x)),
      );
    assert.ok(flags.some((places) => places.length > 2));
    for (const places of flags)
      places.slice(1).forEach((x, i) => assert.ok(x - places[i] >= 11, places.join(" ")));
  });
});

test("every table is there to the letter, to read and to keep", async () => {
  await looking(WHOLE, {}, async (page) => {
    for (const name of ["metrics", "heads", "ablation", "patching", "verdict"]) {
      const card = page.locator("article.table", { has: page.locator(`#table-${name}`) });
      await card.locator("summary").click();
      await card.locator("tbody tr").first().waitFor();
      for (let more = card.getByRole("button", { name: /^Show/ }); (await more.count()) > 0;)
        await more.click();
      const cells = await card
        .locator("tbody tr")
        .evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
      assert.deepEqual(
        cells,
        table(name).map((row) => Object.values(row)),
      );
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        card.getByRole("button", { name: `Download whole-${name}.csv` }).click(),
      ]);
      assert.equal(download.suggestedFilename(), `whole-${name}.csv`);
      assert.equal(
        readFileSync(await download.path(), "utf8"),
        readFileSync(join(PAGES, "whole", `${name}.csv`), "utf8"),
      );
      const [command, note] = [
        await card.locator("code").textContent(),
        await card.locator(".made").textContent(),
      ];
      assert.match(command, /^tapehead /);
      assert.equal(/ --out whole-again$/.test(command), /trains the run anew/.test(note));
    }
  });
});

test("what is not measured is said, with the command that measures it", async () => {
  await looking(ALL[1], {}, async (page) => {
    const words = (await texts(page, ".missing")).join("\n");
    for (const command of [
      "tapehead verdict bare",
      "tapehead ablate bare --kind all",
      "tapehead patch bare",
      "tapehead circuits bare",
      "tapehead lens bare",
      "tapehead heads bare --periods 4,8,12,16,20,23",
    ])
      assert.ok(words.includes(command), `${command} in: ${words}`);
  });
});

test("a damaged part spoils its own section alone", async () => {
  const page = readFileSync(WHOLE, "utf8");
  const file = join(PAGES, "damaged.html");
  writeFileSync(file, page.replace('"ablation":{"kinds"', '"ablation":{"kinder"'));
  await looking(file, {}, async (opened) => {
    assert.match((await texts(opened, "#ablation .failed")).join(""), /cannot be drawn/);
    assert.equal(await opened.locator(".failed").count(), 1);
    assert.equal(await opened.locator("article.table").count(), 16);
  });
});

test("a damaged table is named and left out, and one of another checkpoint says so", async () => {
  await looking(join(PAGES, "behind.html"), {}, async (page) => {
    assert.match(
      (await texts(page, "#training .failed")).join(""),
      /^heads\.csv is damaged, and left out: .*expected a number in column layer of row 1, got "x0"$/,
    );
    assert.match(
      (await texts(page, "#circuits .behind")).join(""),
      /^Measured at step 0, not at the run's newest checkpoint, step 40: lens\.csv\. .*tapehead report behind --measure$/,
    );
    assert.equal(await page.locator(".behind").count(), 1);
    assert.equal(await page.locator("#table-heads").count(), 0);
    assert.equal(await page.locator("#table-metrics").count(), 1);
  });
});

test("everything that can be done with the mouse has a place among the tab stops", async () => {
  await looking(WHOLE, {}, async (page) => {
    const reached = new Set();
    for (let i = 0; i < 120; ++i) {
      await page.keyboard.press("Tab");
      reached.add(
        await page.evaluate(() => {
          const here = document.activeElement;
          return here.getAttribute("aria-label")?.split(/[,:]/)[0] ?? here.textContent.trim().slice(0, 24);
        }),
      );
    }
    for (const stop of [
      "Skip to the content",
      "Step at which the curves are read",
      "▶ Play",
      "Checkpoint",
      "head 1.0",
      "Download whole-metrics.csv".slice(0, 24),
    ])
      assert.ok(reached.has(stop), `${stop} among ${[...reached].join(" | ")}`);
    assert.ok([...reached].some((stop) => stop.startsWith("Attention map of layer")));
    assert.ok([...reached].some((stop) => stop.startsWith("position ")));
  });
});

test("names and tokens that look like markup are text", async () => {
  const name = '<img src=x onerror="alert(1)">';
  await looking(ALL[2], {}, async (page) => {
    assert.equal(await page.locator("h1").textContent(), name);
    assert.equal(await page.title(), `${name} – Tapehead`);
    assert.ok((await texts(page, ".token")).includes("<"));
    assert.equal(await page.locator("img").count(), 0);
  });
  // The same for a token, a command and a cell of a whole page.
  const hostile = "\\u003c/script>\\u003cscript>alert(2)\\u003c/script>\\u003cimg src=x onerror=alert(3)>";
  const page = readFileSync(WHOLE, "utf8");
  const sign = /"signs":\["[^"]*"/;
  const command = /"command":"[^"]*"/;
  const mechanism = /,induction,yes/;
  for (const place of [sign, command, mechanism]) assert.match(page, place);
  const file = join(PAGES, "hostile.html");
  writeFileSync(
    file,
    page
      .replace(sign, `"signs":["${hostile}"`)
      .replace(command, `"command":"${hostile}"`)
      .replace(mechanism, `,${hostile},yes`),
  );
  await looking(file, {}, async (opened) => {
    assert.ok((await texts(opened, ".token"))[0].startsWith("</script><script>alert(2)"));
    assert.equal(await opened.locator("script").count(), 2);
    assert.equal(await opened.locator("img").count(), 0);
  });
});
