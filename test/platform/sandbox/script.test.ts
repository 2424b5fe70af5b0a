import { expect, test } from '@jest/globals';
import { runInNewContext } from 'node:vm';
import { createScriptSandbox } from '../../../src/platform/sandbox/script.ts';
import { SandboxError } from '../../../src/platform/sandbox/sandbox-error.ts';
import { createSlots } from '../../../src/platform/sandbox/slots.ts';
import { sized, tried } from '../../support/runner/sizes.ts';

const MB = 1_024 * 1_024;
/** The promise is two seconds. How long a busy machine takes is no matter of a test, but of the proof. */
const MARGIN_S = sized(20, 2);
const sandbox = createScriptSandbox({ memoryBytes: 64 * MB, slots: createSlots(100) });

const run = (script: string, { args = {}, timeoutMs = 5_000, signal = new AbortController().signal } = {}) =>
  sandbox.run({ script, args, timeoutMs, owner: 'acc_acme', signal });

/** The globals of the language, as an empty realm has them. */
const LANGUAGE = new Set(runInNewContext('Object.getOwnPropertyNames(globalThis)', {}) as string[]);

/** How it failed, and after how many seconds. */
const failureOf = async (script: string, timeoutMs = 1_000): Promise<{ message: string; seconds: number }> => {
  const began = performance.now();
  const error: unknown = await run(script, { timeoutMs }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(SandboxError);
  return { message: (error as Error).message, seconds: (performance.now() - began) / 1_000 };
};

/** Each has a thread, and the machine only so many processors. */
const fewAtOnce = async <T>(scripts: string[], look: (script: string) => Promise<T>): Promise<T[]> => {
  const found: T[] = [];
  for (let i = 0; i < scripts.length; i += 4) found.push(...(await Promise.all(scripts.slice(i, i + 4).map(look))));
  return found;
};

// Guards: the arguments are passed in, and the returned value comes out as JSON.
test.each([
  ['return args.a + args.b', { a: 20, b: 22 }, 42],
  ['const x = await Promise.resolve(args.list); return x.map((n) => n * 2)', { list: [1, 2] }, [2, 4]],
  ['', {}, null],
  ['return () => 1', {}, null],
  ['return { when: new Date(0), nothing: undefined, nan: NaN }', {}, { when: '1970-01-01T00:00:00.000Z', nan: null }],
  ['return args.text', { text: 'é 🎈 \u2028 "`${}' }, 'é 🎈 \u2028 "`${}'],
  // Half a character and NUL cannot be stored.
  ['return "a\\u0000b\\ud800"', {}, 'ab\ufffd'],
  ['// a comment at the end', {}, null],
])('%s', async (script, args, result) => {
  expect(await run(script, { args })).toEqual(result);
});

// Guards: an error is explained with its place in the script and what the script had printed.
test('an error says what and where', async () => {
  const { message } = await failureOf(`console.log('step', { n: 1 });\nthrow new TypeError('no such colour')`);
  expect(message).toContain('TypeError: no such colour');
  expect(message).toContain('script.js:2');
  expect(message).toContain('Its console:\nstep {"n":1}');
});
test.each([
  ['throw { code: 7 }', '{"code":7}'],
  ['throw undefined', ''],
  ['return await Promise.reject(new Error("later"))', 'later'],
  ['return 1n', 'BigInt'],
  ['const a = {}; a.a = a; return a', 'circular'],
  ['return {', 'SyntaxError'],
  ['throw { toJSON() { throw 1 } }', 'cannot be shown'],
  ['await new Promise(() => {})', 'never happens'],
  ['let v = 1; for (let i = 0; i < 5000; i++) v = [v]; return v', 'nested'],
])('%s is refused', async (script, message) => {
  expect((await failureOf(script)).message).toContain(message);
});

// Guards: a script reaches nothing of the host, by whatever way it tries.
test('a script has the language and nothing else', async () => {
  const names = ['process', 'require', 'module', 'fetch', 'Buffer', 'WebAssembly', 'setTimeout', 'Worker', 'print'];
  expect(await run(`return [${names.map((name) => `typeof ${name}`).join(', ')}].join()`)).toBe(
    names.map(() => 'undefined').join(),
  );
  expect(
    await run(`return Function('return typeof process + typeof require')() + (0, eval)('typeof globalThis.process')`),
  ).toBe('undefinedundefinedundefined');
  const own = (await run('return Object.getOwnPropertyNames(globalThis)')) as string[];
  // An error class of QuickJS's own.
  expect(own.filter((name) => !LANGUAGE.has(name))).toEqual(['InternalError']);
});
test.each([
  [`await import('node:fs')`, 'node:fs'],
  [`await import('./script-worker.ts')`, 'script-worker'],
  [`await import('data:text/javascript,export default 1')`, 'data:'],
  [`return console.log.constructor('return process')()`, 'process'],
  [`return args.constructor.constructor('return process.env')()`, 'process'],
  [`console.log({ toJSON() { return Function('return process')() } })`, 'process'],
])('%s fails', async (script, named) => {
  const { message } = await failureOf(script);
  expect(message).toMatch(/ReferenceError|could not load/);
  expect(message).toContain(named);
});

// Guards: a script that changes built-in objects changes them for itself alone.
test('prototype tricks stay inside', async () => {
  const result = await run(`
    Object.prototype.polluted = true;
    Array.prototype[Symbol.iterator] = () => { throw new Error('no') };
    JSON.stringify = () => '"forged"'; JSON.parse = () => 'forged';
    String.prototype.slice = () => 'forged';
    Promise.prototype.then = function () { throw new Error('then') };
    console.log('x', [1]);
    return JSON.parse === undefined ? 0 : { ['__proto__']: { polluted: 1 }, args };`);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":1},"args":{}}');
  expect(await run('return [typeof {}.polluted, JSON.stringify([1])]')).toEqual(['undefined', '[1]']);
});
test('arguments that bend prototypes are data', async () => {
  const args = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as Record<string, unknown>;
  expect(await run('return [{}.polluted === undefined, Object.keys(args)]', { args })).toEqual([
    true,
    ['__proto__', 'constructor'],
  ]);
});
// Guards: code that closes the wrapping function early stays the script's own code, with the same limits.
test('a script that closes its function gains nothing', async () => {
  const { message } = await failureOf(
    `}); globalThis.x = typeof process; (async () => { throw new Error(globalThis.x)`,
  );
  expect(message).toContain('undefined');
});

// Guards: a script ends within its time and two seconds, whatever it does, and the event loop goes on meanwhile.
test('an endless script ends in time', async () => {
  let beats = 0;
  const timer = setInterval(() => beats++, 20);
  const endings = await fewAtOnce(
    [
      'while (true) {}',
      'while (true) { try { while (true) {} } catch {} finally { continue } }',
      'await (function again() { return Promise.resolve().then(again) })()',
      '(function again() { Promise.resolve().then(again) })(); return 1',
      `return /^(a+)+$/.test('a'.repeat(40) + '!')`,
      'const a = Array(1e5).fill(0); while (true) a.sort(() => Math.random() - 0.5)',
      'return { get x() { while (true) {} } }',
      'return { toJSON() { while (true) {} } }',
      'throw { toJSON() { while (true) {} } }',
      'while (true) console.log("x")',
      'for (const x of (function* () { while (true) yield 1 })()) {}',
      'return new Proxy({}, { get: () => { while (true) {} } }).x',
    ],
    (script) => failureOf(script, 500),
  );
  clearInterval(timer);
  for (const { message, seconds } of endings) {
    expect(message).toContain('it was not done within 0.5 seconds');
    expect(seconds).toBeLessThan(0.5 + MARGIN_S);
    tried('scripts that take everything, ended');
  }
  expect(beats).toBeGreaterThan(10);
});
test('one that the interpreter does not notice ends in time too', async () => {
  // No place in it is asked whether it should stop.
  const { message, seconds } = await failureOf(`return new Array(2 ** 32 - 1).join('').length`, 500);
  expect(message).toContain('0.5 seconds');
  expect(seconds).toBeLessThan(0.5 + MARGIN_S);
});

// Guards: memory and stack are limited, and exceeding a limit ends only the script.
test('a script that takes too much ends alone', async () => {
  const before = process.memoryUsage().rss;
  const endings = await fewAtOnce(
    [
      `let s = 'x'; while (true) s += s`,
      'const a = []; while (true) a.push(new Array(1000).fill(7))',
      `const a = []; while (true) try { a.push('x'.repeat(100_000) + a.length) } catch {}`,
      'let a = []; let b = a; while (true) { b.push([]); b = b[0] }',
      'const a = []; while (true) a.push(new ArrayBuffer(10_000_000))',
      'return new ArrayBuffer(10_000_000_000)',
      `return 'x'.repeat(2 ** 30)`,
      'let n = 3n; while (true) n = n * n',
      '(function f() { f() })()',
      '(function f() { console.log({ toJSON: f }) })()',
      `return JSON.parse('['.repeat(1e6) + ']'.repeat(1e6))`,
      `return new RegExp('('.repeat(1e5) + ')'.repeat(1e5))`,
      `return eval('('.repeat(1e6) + '1' + ')'.repeat(1e6))`,
      'let v = 1; for (let i = 0; i < 1e5; i++) v = [v]; return v',
      `return 'x'.repeat(10_000_000)`,
      `throw new Error('x'.repeat(10_000_000))`,
    ],
    (script) => failureOf(script, 2_000),
  );
  for (const { message, seconds } of endings) {
    expect(message.length).toBeLessThan(20_000);
    expect(seconds).toBeLessThan(2 + MARGIN_S);
    tried('scripts that take everything, ended');
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * MB);
  expect(endings.map(({ message }) => message).join('\n')).toMatch(/out of memory[^]*out of memory[^]*stack overflow/);
});

// Guards: console output is kept for the reader of the error, up to a limit.
test('the console is capped', async () => {
  const { message } = await failureOf(
    `for (let i = 0; i < 100; i++) console.log('x'.repeat(1e5)); throw new Error('end')`,
    4_000,
  );
  expect(message).toContain('Error: end');
  expect(message.length).toBeLessThan(10_000);
});

// Guards: a cancelled run does not wait for its script.
test('a signal ends it', async () => {
  const controller = new AbortController();
  const began = performance.now();
  const running = run('while (true) {}', { timeoutMs: 60_000, signal: controller.signal });
  const settled = expect(running).rejects.toMatchObject({ name: 'AbortError' });
  setTimeout(() => controller.abort(), 200);
  await settled;
  expect(performance.now() - began).toBeLessThan(30_000);
  await expect(run('return 1', { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
});
