// A headless Chromium, spoken to in the DevTools protocol over a pipe (file descriptors 3 and 4, JSON ended by NUL):
// no port, no library. https://chromedevtools.github.io/devtools-protocol/

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** No answer within this time: the browser hangs. Generous, for loaded machines. */
const LIMIT_MS = 120_000;

export class Browser {
  /** Starts `program` with a profile of its own. */
  static async start(program) {
    const browser = new Browser();
    browser.profile = mkdtempSync(join(tmpdir(), "millrace-report-"));
    const flags = [
      "--headless=new", "--remote-debugging-pipe", `--user-data-dir=${browser.profile}`, "--no-first-run", "--no-default-browser-check",
      "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
      "--force-color-profile=srgb", "--hide-scrollbars",
    ];
    // Chromium's sandbox refuses root, as which CI runs; the pages are our own files.
    if (process.getuid && process.getuid() === 0) flags.push("--no-sandbox");
    browser.process = spawn(program, [...flags, "about:blank"], { stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"] });
    browser.said = "";
    browser.process.stderr.on("data", (text) => { browser.said = (browser.said + text).slice(-4000); });
    browser.process.on("error", (error) => browser.fail(error));
    browser.process.on("exit", (code, signal) => browser.fail(new Error(`the browser ended (${code ?? signal}): ${browser.said}`)));
    let rest = Buffer.alloc(0);
    browser.process.stdio[4].on("data", (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
        browser.hear(JSON.parse(rest.subarray(0, end).toString()));
        rest = rest.subarray(end + 1);
      }
    });
    browser.process.stdio[3].on("error", (error) => browser.fail(error));
    return browser;
  }

  constructor() {
    this.next = 1;
    this.waiting = new Map();
    this.pages = new Map();
  }

  /** An answer, or an error of the protocol. */
  send(method, params = {}, sessionId = undefined) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      if (this.broken) return reject(this.broken);
      const timer = setTimeout(() => { this.waiting.delete(id); reject(new Error(`${method}: no answer within ${LIMIT_MS / 1000} s`)); }, LIMIT_MS);
      this.waiting.set(id, { resolve, reject, method, timer });
      this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    });
  }

  hear(message) {
    if (message.id === undefined) {
      const page = this.pages.get(message.sessionId);
      if (page) page.hear(message.method, message.params);
      return;
    }
    const asked = this.waiting.get(message.id);
    if (!asked) return;
    this.waiting.delete(message.id);
    clearTimeout(asked.timer);
    if (message.error) asked.reject(new Error(`${asked.method}: ${message.error.message}`));
    else asked.resolve(message.result);
  }

  fail(error) {
    this.broken = this.broken || error;
    for (const { reject, timer } of this.waiting.values()) {
      clearTimeout(timer);
      reject(error);
    }
    this.waiting.clear();
    for (const page of this.pages.values()) page.fail(error);
  }

  async page() {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId);
    this.pages.set(sessionId, page);
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await page.send(domain + ".enable");
    return page;
  }

  async stop() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.broken = new Error("the browser was stopped");
      this.process.stdio[3].write(JSON.stringify({ id: 0, method: "Browser.close" }) + "\0");
      const timer = setTimeout(() => this.process.kill("SIGKILL"), 10_000);
      await ended;
      clearTimeout(timer);
    }
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

/** A tab: what it complains about is kept in `complaints`, what it asks of a network in `requests`. */
class Page {
  constructor(browser, sessionId) {
    this.browser = browser;
    this.sessionId = sessionId;
    this.clear();
  }

  clear() {
    this.complaints = [];
    this.requests = [];
  }

  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }

  hear(method, params) {
    if (method === "Runtime.exceptionThrown") {
      const { text, exception } = params.exceptionDetails;
      this.complaints.push("exception: " + ((exception && exception.description) || text));
    } else if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type)) {
      this.complaints.push(`console.${params.type}: ` + params.args.map((arg) => arg.value ?? arg.description ?? "").join(" "));
    } else if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level)) {
      this.complaints.push(`log: ${params.entry.text}`);
    } else if (method === "Network.requestWillBeSent" && !/^(file|data|blob|about):/.test(params.request.url)) {
      this.requests.push(params.request.url);
    } else if (method === "Page.loadEventFired" && this.loaded) {
      this.loaded.resolve();
      this.loaded = null;
    }
  }

  fail(error) {
    if (this.loaded) this.loaded.reject(error);
    this.loaded = null;
  }

  /** Opens an address at a size and in a colour scheme; returns when it has loaded. */
  async open(url, width, height, scheme) {
    this.clear();
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    const loaded = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${url}: not loaded within ${LIMIT_MS / 1000} s`)), LIMIT_MS);
      const done = (settle) => (value) => { clearTimeout(timer); settle(value); };
      this.loaded = { resolve: done(resolve), reject: done(reject) };
    });
    const { errorText } = await this.send("Page.navigate", { url });
    if (errorText) throw new Error(`${url}: ${errorText}`);
    await loaded;
    await this.frames();
  }

  /** Two frames: what was asked for is laid out and painted. */
  frames() {
    return this.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))));
  }

  /** Calls a function in the page. */
  async evaluate(code, ...values) {
    const expression = `(${code})(${values.map((value) => JSON.stringify(value)).join(", ")})`;
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error((exceptionDetails.exception && exceptionDetails.exception.description) || exceptionDetails.text);
    return result.value;
  }

  /** The whole page as PNGs, from top to bottom. */
  async screenshots(height) {
    const { cssContentSize } = await this.send("Page.getLayoutMetrics");
    const pictures = [];
    for (let y = 0; y < cssContentSize.height; y += height) {
      const clip = { x: 0, y, width: cssContentSize.width, height: Math.min(height, cssContentSize.height - y), scale: 1 };
      const { data } = await this.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true, clip });
      pictures.push(Buffer.from(data, "base64"));
    }
    return pictures;
  }
}
