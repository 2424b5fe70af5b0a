/**
 * schemathesis, which makes requests of an OpenAPI document and holds the replies against it. It is a Python package: a
 * pinned version, in an environment of its own in `.cache`.
 */
import { execFile, spawn } from 'node:child_process';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installPythonPackage } from './python-package.ts';

const run = promisify(execFile);
const VERSION = '4.32.5';
const CACHE = fileURLToPath(new URL('../../../.cache', import.meta.url));
const HOME = join(CACHE, `schemathesis-${VERSION}`);

/**
 * What it holds against a reply. Not asked: whether unknown methods get 405 (here they get the 404 of an unknown
 * address), and whether a body of the right shape is taken (what it names may not exist).
 */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'ignored_auth',
];

// 502 is what a provider's failure is told with. Where a document does not name it, `status_code_conformance` says so.
const CONFIG = `[checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 502]
`;

export interface SchemathesisOptions {
  documentUrl: string;
  /** What the paths of the document are relative to. */
  baseUrl: string;
  /** Credentials under the names that documents have them, `Authorization`: it takes others for made-up ones. */
  headers: Record<string, string>;
  seed: number;
  /** Of the random requests for each operation; those at the bounds of each field come on top. */
  maxExamples: number;
  phases: readonly ('coverage' | 'fuzzing' | 'stateful')[];
  /** Where operations take any of several credentials it believes the one that it makes up to be the one that was taken. */
  takesEither?: boolean;
  /** All unless given. */
  operationIds?: readonly string[];
  /** Where its files go. */
  folder: string;
}

export interface SchemathesisResult {
  requests: number;
  operations: number;
  /** Each kind of failure of an operation once, with the request; and what it could not try. */
  findings: string[];
}

/** Installs it the first time. @returns its interpreter; or why there is none, where there is none */
export async function findSchemathesis(): Promise<{ python: string } | string> {
  const python = join(HOME, 'bin/python');
  if (existsSync(python)) return { python };
  try {
    await run('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']);
  } catch {
    return 'schemathesis needs python3, 3.10 or newer: install it (Debian: apt-get install python3 python3-venv)';
  }
  try {
    await installPythonPackage(`schemathesis==${VERSION}`, HOME);
    return { python };
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    return `schemathesis could not be installed with pip: ${stderr.trim().split('\n').at(-1) || message}`;
  }
}

/**
 * Its own noise, told apart from what it saw of the service, which it records when it sees it. `SystemError`: before Python
 * 3.12 threads that parse at once disturb each other; `FlakyFailure`: it could not generate the same request again.
 */
const NOISE = new Set(['SystemError', 'FlakyFailure']);

/**
 * Where there was noise an operation is tried once more, alone and in one thread.
 * @throws Error when it did not come to an end
 */
export async function runSchemathesis(python: string, options: SchemathesisOptions): Promise<SchemathesisResult> {
  const { untried, ...result } = await runOnce(python, options, { workers: 4 });
  if (untried.length === 0) return result;
  const alone = { ...options, folder: join(options.folder, 'again') };
  const again = await runOnce(python, alone, { workers: 1, names: untried });
  return {
    requests: result.requests + again.requests,
    operations: result.operations,
    findings: [
      ...result.findings,
      ...again.findings,
      ...again.untried.map((label) => `${label} could not be tried, not alone either`),
    ],
  };
}

interface Once extends SchemathesisResult {
  /** Operations that noise was in. */
  untried: string[];
}

async function runOnce(
  python: string,
  options: SchemathesisOptions,
  { workers, names = [] }: { workers: number; names?: readonly string[] },
): Promise<Once> {
  const { documentUrl, baseUrl, headers, seed, maxExamples, phases, operationIds = [], folder, takesEither } = options;
  const [by, included] = names.length > 0 ? ['name', names] : ['operation-id', operationIds];
  const checks = CHECKS.filter((check) => !takesEither || check !== 'ignored_auth');
  await mkdir(folder, { recursive: true });
  const file = (name: string) => join(folder, name);
  await writeFile(file('schemathesis.toml'), CONFIG);
  const args = [
    // Its scripts name the interpreter by the place where it was made, so they are not what is started.
    ...['-m', 'schemathesis.cli', '--config-file', file('schemathesis.toml'), 'run', documentUrl, '--url', baseUrl],
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    ...included.flatMap((value) => [`--include-${by}`, value]),
    ...['--phases', phases.join(), '--max-examples', String(maxExamples)],
    ...['--seed', String(seed), '--workers', String(workers)],
    // One failure does not end it; it does not look for the smallest request, and keeps nothing for the next time.
    ...['--continue-on-failure', '--no-shrink', '--generation-database', 'none', '--request-timeout', '60'],
    ...['--suppress-health-check', 'all', '--warnings', 'off', '--no-color', '--checks', checks.join()],
    ...['--report', 'json,ndjson', '--report-json-path', file('report.json')],
    ...['--report-ndjson-path', file('events.ndjson'), '--output-sanitize', 'false'],
  ];
  const child = spawn(python, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on('close', resolve)),
  ]);
  if (code !== 0 && code !== 1) throw new Error(`schemathesis ended with ${code}: ${(errors || output).slice(-2_000)}`);
  const report = JSON.parse(await readFile(file('report.json'), 'utf8')) as Report;
  return {
    requests: report.test_cases.generated,
    operations: report.operations.tested,
    ...(await findingsIn(file('events.ndjson'))),
  };
}

interface Report {
  test_cases: { generated: number };
  operations: { tested: number };
}
interface Scenario {
  recorder: {
    label: string;
    checks: Record<string, { status: string; failure_info?: { failure: { title: string; message: string } } }[]>;
    interactions: Record<string, { request: { method: string; uri: string } } | undefined>;
  };
}
interface NonFatalError {
  label: string;
  value: { type: string; message: string };
}

/** A line is an event, and the last of them are long: one is held at a time. */
async function findingsIn(events: string): Promise<Pick<Once, 'findings' | 'untried'>> {
  const untried = new Set<string>();
  const found = new Map<string, string>();
  for await (const line of createInterface({ input: createReadStream(events), crlfDelay: Infinity })) {
    if (line.startsWith('{"NonFatalError"')) {
      const { label, value } = (JSON.parse(line) as { NonFatalError: NonFatalError }).NonFatalError;
      if (NOISE.has(value.type)) untried.add(label);
      else found.set(`${label} ${value.type}`, `${label} could not be tried (${value.type}): ${value.message}`);
    } else if (line.startsWith('{"ScenarioFinished"') && line.includes('"failure_info"')) {
      const { recorder } = (JSON.parse(line) as { ScenarioFinished: Scenario }).ScenarioFinished;
      for (const [id, checks] of Object.entries(recorder.checks)) {
        for (const { status, failure_info: info } of checks) {
          if (status !== 'failure' || !info) continue;
          const { title, message } = info.failure;
          const asked = recorder.interactions[id]?.request;
          const request = asked ? `${asked.method} ${asked.uri.slice(0, 300)}` : recorder.label;
          const key = `${recorder.label} ${title}`;
          if (!found.has(key)) found.set(key, `${request}: ${title}: ${message.replaceAll('\n', '; ').slice(0, 400)}`);
        }
      }
    }
  }
  return { findings: [...found.values()], untried: [...untried] };
}
