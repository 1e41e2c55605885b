// A browser that opens pages from disk, with the network off, and keeps everything it complains of.

import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";

const QUIET = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export async function startBrowser() {
  // Chromium refuses its sandbox to root.
  const asRoot = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath: "/usr/bin/chromium", args: [...QUIET, ...asRoot] });
}

/** The page in a file, and what went wrong with it: errors, words on the console, dialogs, requests. */
export async function open(browser, file, { width = 1440, height = 900, colorScheme = "light" } = {}) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    offline: true,
    acceptDownloads: true,
  });
  const page = await context.newPage();
  const complaints = [];
  const url = pathToFileURL(file).href;
  page.on("console", (message) => complaints.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url() !== url && !/^(blob|data):/.test(request.url()))
      complaints.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  await settled(page);
  return { page, complaints, close: () => context.close() };
}

/** Waits until what was asked for is drawn. */
export async function settled(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}
