/**
 * Nothing from outside is read without end: every caller (test/support/security/outside-callers.ts) is given every body that has
 * none, comes a byte at a time, is huge once unpacked or lies about its length. Each has to end in time, to close its
 * connection, to have taken no more than so much, and to say what it met; the process does not grow.
 */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { present } from '../../src/platform/core/present.ts';
import { CALLERS, outsideCallers, type Caller } from '../support/security/outside-callers.ts';
import { eventually } from '../support/service/service.ts';
import { drawn, sized, tried } from '../support/runner/sizes.ts';

const MB = 1_024 * 1_024;
const TIMEOUT_S = 3;
/** What a caller may take beyond its time: two more attempts, and a crowded machine. */
const PATIENCE_MS = 3 * TIMEOUT_S * 1_000 + 25_000;
const MAX_MB = sized(1, 8);
/** What a caller takes, a chunk of a byte with its frame; and a socket holds some megabytes of what nobody reads, on both sides. */
const mostTaken = (kind: string): number => (kind === 'chunks of a byte' ? sized(1, 6) : 1) * 16 * MB + 16 * MB;
/** Of what is in use, so after a collection: when memory that nobody uses is given back is the collector's affair. */
const MOST_GROWN = 256 * MB;
/** Between two looks at it, in ms. */
const LOOK_MS = 250;
/** Their end is the time limit: at once for all, or this would take an hour. */
const SLOW = /drip|silence|length too large$/;
/** As long, and as busy all the while. It is the same client for all, so that one of them does where tests are small. */
const FLOOD = /chunk extension|early hints/;
const FLOODED = sized(/^tool: http_request$/, /^/);

jest.setTimeout(180_000);

let server: ChildProcess;
let ports: { answers: Record<string, number>; greetings: Record<string, number> };
const taken: { kind: string; bytes: number }[] = [];
let open = 0;
let grown = 0;
let watch: NodeJS.Timeout;
const { callers: all, close } = outsideCallers({ timeoutS: TIMEOUT_S, maxMb: MAX_MB });
const NAMES = drawn('callers', CALLERS, CALLERS.length / 3);
const callers = all.filter(({ name }) => NAMES.includes(name));

beforeAll(async () => {
  server = spawn(process.execPath, [fileURLToPath(new URL('../support/fakes/endless-server.ts', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: present(server.stdout) });
  const started = once(lines, 'line');
  lines.on('line', (line) => {
    const said = JSON.parse(line) as { kind: string; opened?: number; closed?: number; bytes: number };
    if (said.opened) open += 1;
    if (!said.closed) return;
    open -= 1;
    taken.push(said);
  });
  ports = JSON.parse(String(await started));
  const before = bytesInUse();
  // A collection takes some 100 ms, so only when there is too much with what nobody uses any more.
  watch = setInterval(() => {
    const more = bytesAllocated() - before;
    grown = Math.max(grown, more < MOST_GROWN ? more : bytesInUse() - before);
  }, LOOK_MS);
});
afterAll(async () => {
  clearInterval(watch);
  await close();
  server.kill();
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function bytesAllocated(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
function bytesInUse(): number {
  collect();
  return bytesAllocated();
}

interface Ending {
  text: string;
  tookMs: number;
}

async function endingOf(caller: Caller, port: number): Promise<Ending> {
  const began = performance.now();
  const late = new Promise<string>((resolve) => setTimeout(resolve, PATIENCE_MS, 'IT DID NOT END').unref());
  const text = await Promise.race([
    late,
    caller.ask(port).then(
      (value) => String(JSON.stringify(value)),
      (error: Error) => said(error),
    ),
  ]);
  tried('bodies');
  return { text, tookMs: Math.round(performance.now() - began) };
}

/** What failed, and why. */
const said = ({ message, cause }: Error): string => (cause instanceof Error ? `${message}: ${said(cause)}` : message);

const kindsFor = ({ name, isGreeted, kinds = /^/ }: Caller): [kind: string, port: number][] =>
  Object.entries(isGreeted ? ports.greetings : ports.answers).filter(
    ([kind]) => (isGreeted || kinds.test(kind)) && (FLOODED.test(name) || !FLOOD.test(kind)),
  );
const byName = (name: string) => present(callers.find((caller) => caller.name === name));

function expectEnd({ name, says, endless = 'endless' }: Caller, kind: string, { text }: Ending): void {
  expect({ name, kind, text }).toEqual({ name, kind, text: expect.not.stringContaining('IT DID NOT END') });
  if (kind === endless) expect({ name, text }).toEqual({ name, text: expect.stringMatching(says.size) });
  if (kind === 'a drip') expect({ name, text }).toEqual({ name, text: expect.stringMatching(says.time) });
}

// Guards: a server that sends its answer very slowly holds no caller longer than the caller's limit.
test('what comes slowly ends in time', async () => {
  const slow = callers.flatMap((caller) =>
    kindsFor(caller).flatMap(([kind, port]) => (SLOW.test(kind) ? [{ caller, kind, port }] : [])),
  );
  const endings = await Promise.all(
    slow.map(async (one) => ({ ...one, ending: await endingOf(one.caller, one.port) })),
  );
  for (const { caller, kind, ending } of endings) expectEnd(caller, kind, ending);
});

// Guards: a server that sends too much, compressed or not, holds no caller either, and the error says why.
test.each(NAMES)('%s reads nothing without end', async (name) => {
  const caller = byName(name);
  for (const [kind, port] of kindsFor(caller)) {
    if (!SLOW.test(kind)) expectEnd(caller, kind, await endingOf(caller, port));
  }
});

// Guards against: an answer that was given up and is still received or kept in memory.
test('nobody is left behind, and little was taken', async () => {
  await close();
  await eventually(() => expect(open).toBe(0));
  expect(taken.length).toBeGreaterThan(NAMES.length * 10);
  // What is around a body is thrown away as it comes, and has the time limit for its end.
  const bodies = taken.filter(({ kind }) => !FLOOD.test(kind));
  expect(bodies.filter(({ kind, bytes }) => bytes > mostTaken(kind))).toEqual([]);
  expect(grown).toBeLessThan(MOST_GROWN);
  tried('connections', taken.length);
  tried('MB in use, at most, more than before', Math.round(grown / MB));
});
