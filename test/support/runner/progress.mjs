/**
 * Prints how a run goes: failures as they come, and each minute how many files are done and which take longest. Everything else
 * that is printed while tests run goes to `.cache/test-output.log`: logs of workers, of the bundler, and errors that tests provoke.
 */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const LOG = '.cache/test-output.log';
const LINE_EVERY_MS = 60_000;
/** Number of running files that a line names. */
const NAMED = 4;
/** Number of characters of its output that a file shows if it fails; the log has the rest. */
const SHOWN_OUTPUT = 8_000;

export default class Progress {
  #print = process.stderr.write.bind(process.stderr);
  #originals = [process.stdout, process.stderr].map((stream) => [stream, stream.write]);
  #log;
  #lineEveryMs;
  #timer;
  #isVerbose;
  #total = 0;
  #done = 0;
  #failed = 0;
  #startedAt = performance.now();
  /** Start times by path. */
  #running = new Map();
  #notices = new Set();

  /** @param options of the configuration: another log, and how often it prints a line */
  constructor({ verbose }, { log = LOG, lineEveryMs = LINE_EVERY_MS } = {}) {
    this.#isVerbose = verbose === true;
    this.#lineEveryMs = lineEveryMs;
    mkdirSync(dirname(join(ROOT, log)), { recursive: true });
    this.#log = openSync(join(ROOT, log), 'w');
    for (const [stream] of this.#originals) {
      stream.write = (chunk, encoding, callback) => {
        writeSync(this.#log, chunk);
        const done = typeof encoding === 'function' ? encoding : callback;
        if (done) process.nextTick(done);
        return true;
      };
    }
  }

  onRunStart({ numTotalTestSuites }) {
    this.#total = numTotalTestSuites;
    this.#timer = setInterval(() => this.#print(`${this.#line()}\n`), this.#lineEveryMs).unref();
  }

  onTestStart({ path }) {
    this.#running.set(path, performance.now());
  }

  onTestResult({ path }, result) {
    this.#running.delete(path);
    this.#done += 1;
    const name = relative(ROOT, path);
    const { failureMessage, output = '' } = result;
    if (output) writeSync(this.#log, `\n== ${name}\n${output}\n`);
    for (const [notice] of output.matchAll(/^\*\*\* SKIPPED.*$/gm)) this.#notices.add(notice);
    if (failureMessage) this.#failed += 1;
    if (failureMessage || this.#isVerbose || !process.env.TEST_WHOLE) this.#print(heading(name, result));
    if (this.#isVerbose) this.#print(result.testResults.map(testLine).join(''));
    if (failureMessage) this.#print(`${failureMessage}\n`);
    if (output && (failureMessage || this.#isVerbose)) this.#print(`Printed by ${name}:\n${lastPart(output)}\n\n`);
  }

  onRunComplete() {
    clearInterval(this.#timer);
    for (const [stream, write] of this.#originals) stream.write = write;
    closeSync(this.#log);
    for (const notice of this.#notices) this.#print(`${notice}\n`);
  }

  #line() {
    const now = performance.now();
    const minutes = Math.round((now - this.#startedAt) / 60_000);
    const longest = [...this.#running].slice(0, NAMED).map(([path, since]) => {
      return `${relative(ROOT, path)} (${((now - since) / 1_000).toFixed(0)} s)`;
    });
    const failures = this.#failed > 0 ? `, ${this.#failed} failed` : '';
    return `${minutes} min: ${this.#done} of ${this.#total} files done${failures}; running ${longest.join(', ')}`;
  }
}

const heading = (name, { failureMessage, skipped, perfStats }) =>
  `${failureMessage ? 'FAIL' : skipped ? 'SKIP' : 'PASS'} ${name} (${((perfStats?.runtime ?? 0) / 1_000).toFixed(1)} s)\n`;

const testLine = ({ status, fullName, duration }) => `  ${status} ${fullName} (${duration ?? 0} ms)\n`;

const lastPart = (output) =>
  output.length <= SHOWN_OUTPUT ? output : `(the rest is in ${LOG}) ...${output.slice(-SHOWN_OUTPUT)}`;
