/**
 * The thread that one script runs in, and that ends with it. QuickJS is compiled to WebAssembly: the script's memory is
 * one array of bytes, and of this world it has what is put in here: its arguments and a console that collects.
 *
 * Stack and time are limited by QuickJS; where it does not look (a long regular expression, say), whoever started the
 * thread ends it. Memory is limited from outside, see `limitMemory`.
 */
import { newQuickJSWASMModuleFromVariant, RELEASE_SYNC } from 'quickjs-emscripten';
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';
import { parentPort, workerData } from 'node:worker_threads';

export interface ScriptJob {
  script: string;
  /** The arguments as JSON. */
  args: string;
  timeoutMs: number;
  memoryBytes: number;
  /** The JSON of the result has at most so many characters. */
  maxResult: number;
  /** All that the script writes to the console has at most so many characters. */
  maxConsole: number;
}

export type ScriptOutcome =
  { result: string } | { error: string; console: string } | { timedOut: true; console: string };

const PAGE_BYTES = 64 * 1_024;
const STACK_BYTES = 256 * 1_024;
const MAX_ERROR = 2_000;
/** Kept back so that there is memory to say that the memory is used up. */
const SPARE_BYTES = 1_024 * 1_024;
const JOBS_AT_ONCE = 1_000;

/**
 * Runs before the script and keeps the functions that a script could replace. Only this thread can reach what it
 * returns.
 */
const PRELUDE = `((print) => {
  const { Error, String, JSON: { parse, stringify } } = globalThis;
  const slice = Function.prototype.call.bind(String.prototype.slice);
  const shown = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof Error) return value + '\\n' + value.stack;
    return typeof value === 'object' ? stringify(value) : String(value);
  };
  const short = (value, length) => slice(shown(value) ?? '', 0, length);
  const write = (...values) => {
    let line = '';
    for (let i = 0; i < values.length; i++) line += (i > 0 ? ' ' : '') + short(values[i], 10_000);
    print(slice(line, 0, 10_000));
  };
  globalThis.console = { log: write, info: write, warn: write, error: write, debug: write, trace: write };
  return { parse, stringify, describe: (error) => short(error, ${MAX_ERROR}) };
})`;

interface Memory {
  buffer: ArrayBuffer;
  grow(pages: number): number;
}

/**
 * QuickJS's own limit knows each allocation but not their sum: its count of what is allocated needs a function that is not
 * there in WebAssembly. Its memory is one array, though, and it can only have more of that by asking here.
 */
function limitMemory(bytes: number) {
  const { prototype } = (globalThis as unknown as { WebAssembly: { Memory: { prototype: Memory } } }).WebAssembly
    .Memory;
  const { grow } = prototype;
  const limit = { bytes, isReached: false };
  prototype.grow = function (pages) {
    limit.isReached = this.buffer.byteLength + pages * PAGE_BYTES > limit.bytes;
    if (limit.isReached) throw new RangeError('no more memory');
    return grow.call(this, pages);
  };
  return limit;
}

/** A script that was written to be ended, or never to end, is told so; nothing it did is kept. */
async function execute(job: ScriptJob): Promise<ScriptOutcome> {
  const memory = limitMemory(job.memoryBytes);
  const quickjs = await newQuickJSWASMModuleFromVariant(RELEASE_SYNC);
  const runtime = quickjs.newRuntime();
  runtime.setMaxStackSize(STACK_BYTES);
  const deadline = performance.now() + job.timeoutMs;
  let timedOut = false;
  runtime.setInterruptHandler(() => (timedOut ||= performance.now() > deadline));

  const context = runtime.newContext();
  let written = '';
  const print = context.newFunction('print', (line) => {
    if (written.length < job.maxConsole) written = `${written}${context.getString(line)}\n`.slice(0, job.maxConsole);
  });
  const own = must(context, context.callFunction(must(context, context.evalCode(PRELUDE)), context.undefined, print));
  const call = (name: string, argument: QuickJSHandle) =>
    context.callFunction(context.getProp(own, name), context.undefined, argument);

  const failed = (error: QuickJSHandle): ScriptOutcome => {
    if (timedOut) return { timedOut, console: written };
    const isOutOfMemory = memory.isReached;
    memory.bytes += SPARE_BYTES;
    const described = call('describe', error);
    if (timedOut) return { timedOut, console: written };
    const text = described.error ? 'it threw something that cannot be shown' : context.getString(described.value);
    // Without memory for an error, QuickJS throws null.
    return { error: isOutOfMemory && text === 'null' ? 'out of memory' : text, console: written };
  };

  // The script begins on the first line, so that line numbers in errors are its own.
  const compiled = context.evalCode(`(async (args) => {${job.script}\n})`, 'script.js');
  if (compiled.error) return failed(compiled.error);
  const args = must(context, call('parse', context.newString(job.args)));
  const started = context.callFunction(compiled.value, context.undefined, args);
  if (started.error) return failed(started.error);
  while (runtime.hasPendingJob() && !timedOut) {
    const done = runtime.executePendingJobs(JOBS_AT_ONCE);
    if (done.error) return failed(done.error);
    timedOut ||= performance.now() > deadline;
  }
  const promise = context.getPromiseState(started.value);
  if (timedOut) return { timedOut, console: written };
  if (promise.type === 'pending') return { error: 'it waits for something that never happens', console: written };
  if (promise.type === 'rejected') return failed(promise.error);

  const json = call('stringify', promise.value);
  if (json.error) return failed(json.error);
  // A function has no JSON, and neither has `undefined`.
  if (context.typeof(json.value) !== 'string') return { result: 'null' };
  const length = context.getNumber(context.getProp(json.value, 'length'));
  if (length > job.maxResult) {
    return { error: `its result is ${length} characters long, more than ${job.maxResult}`, console: written };
  }
  return { result: context.getString(json.value) };
}

const must = (context: QuickJSContext, result: ReturnType<QuickJSContext['evalCode']>) => context.unwrapResult(result);

parentPort!.postMessage(await execute(workerData as ScriptJob));
