/**
 * Adds `aos doctor`, which checks each thing that the service needs, asks the running service what it has, and says what to do
 * about each that is not right.
 */
import type { Command } from 'commander';
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readCredentials } from '../embedded/credentials.ts';
import { inMB, isMemoryLittle, LEAST_MEMORY, memoryLimit } from '../embedded/memory.mjs';
import { isFree, wantedPorts } from '../embedded/ports.ts';
import { checkSettings } from '../embedded/settings.ts';
import { findTemporalCli } from '../embedded/temporal.ts';
import { ConfigError, type Config } from '../platform/core/config.ts';
import { messageOf } from '../platform/core/causes.ts';
import { misspeltSettings } from '../platform/core/misspelt-settings.ts';
import { readCatalogue } from '../platform/models/known-models.ts';
import { createPrices } from '../platform/models/prices.ts';
import { DISK_SHORT, freeBytes, nearestExisting } from '../platform/files/disk.ts';
import { examineModelServers } from './doctor-models.ts';
import { examineService } from './doctor-service.ts';
import { failed, ok, warning, type CheckResult } from './findings.ts';
import { MODEL_SETTINGS, modelsIn } from './models.ts';
import { paintStatus, print, printJson } from './output.ts';

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'check what the service needs, ask the running one how it is, and say how to mend what is wrong; exit code 1 if anything is',
    )
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const findings = await examine(process.env);
      if (json) printJson(findings);
      else findings.forEach(printFinding);
      if (findings.some(({ status }) => status === 'failed')) process.exitCode = 1;
    });
}

const WIDTH = 31;

function printFinding({ check, status, detail, mend }: CheckResult): void {
  print(`${paintStatus(status, 9)}${check.padEnd(WIDTH)}${detail}`);
  if (mend) print(`${' '.repeat(9 + WIDTH)}-> ${mend}`);
}

async function examine(env: NodeJS.ProcessEnv): Promise<CheckResult[]> {
  const dataDir = env.DATA_DIR || '.data';
  const { config, finding } = examineSettings(env);
  const slow = await Promise.all([
    examineSetUp(),
    examineDataDir(dataDir),
    examineDisk(dataDir),
    examineTemporal(env),
    examinePostgres(env, config),
    config ? examinePorts(config, env, dataDir) : [],
    config ? examineModelServers(config) : [],
  ]);
  const { findings, toldModels } = await examineService(env);
  // What runs knows what it has; the settings of this terminal say only what another start would have.
  const models = toldModels ? [] : [examineModels(env), ...examinePrice(config)];
  return [examineNode(), ...examineMemory(env), ...finding, ...slow.flat(), ...models, ...findings];
}

function examineNode(): CheckResult {
  const [major = 0] = process.versions.node.split('.').map(Number);
  return major >= 24
    ? ok('Node', process.versions.node)
    : failed('Node', `${process.versions.node}, not the pinned one`, 'run `npm run setup`, then `npx aos doctor`');
}

/** What several processes take is known only of those that `aos start` runs. */
function examineMemory(env: NodeJS.ProcessEnv): CheckResult[] {
  if (env.DATABASE_URL && env.TEMPORAL_ADDRESS) return [];
  const found = `${inMB(memoryLimit())} for all processes of the service`;
  if (memoryLimit() < LEAST_MEMORY)
    return [failed('memory', found, `give it ${inMB(LEAST_MEMORY)} or more, or the system ends a part of it`)];
  return [ok('memory', isMemoryLittle() ? `${found}; it takes less, and is slower for that` : found)];
}

async function examineSetUp(): Promise<CheckResult[]> {
  const setUp = fileURLToPath(new URL('../embedded/setup.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [setUp, '--check']);
  return (JSON.parse(stdout) as { name: string; current: boolean }[]).map(({ name, current }) =>
    current ? ok(name, 'up to date') : failed(name, 'missing or out of date', 'run `npm run setup`'),
  );
}

function examineSettings(env: NodeJS.ProcessEnv): { config?: Config; finding: CheckResult[] } {
  const misspelt = misspeltSettings().map((line) => warning('settings', line, 'correct its name in .env'));
  try {
    const config = checkSettings(env);
    return { config, finding: misspelt.length > 0 ? misspelt : [ok('settings', 'all understood')] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return {
      finding: [
        ...error.message
          .split('\n')
          .map((line) => failed('settings', line, 'correct it in the environment or in .env')),
        ...misspelt,
      ],
    };
  }
}

async function examineDataDir(dataDir: string): Promise<CheckResult> {
  try {
    await access(await nearestExisting(dataDir), constants.W_OK);
    return ok('data directory', `${dataDir} is writable`);
  } catch (error) {
    return failed('data directory', messageOf(error), 'set DATA_DIR to a directory that you may write to');
  }
}

const GB = 1024 ** 3;

async function examineDisk(dataDir: string): Promise<CheckResult> {
  const bytes = await nearestExisting(dataDir)
    .then(freeBytes)
    .catch(() => freeBytes('.'));
  const free = `${(bytes / GB).toFixed(1)} GB free`;
  return bytes > DISK_SHORT
    ? ok('disk', free)
    : failed('disk', free, 'free at least 1 GB, or set DATA_DIR to another disk');
}

async function examineTemporal(env: NodeJS.ProcessEnv): Promise<CheckResult> {
  if (env.TEMPORAL_ADDRESS) {
    return (await answers(env.TEMPORAL_ADDRESS))
      ? ok('Temporal', `${env.TEMPORAL_ADDRESS} takes connections`)
      : failed(
          'Temporal',
          `${env.TEMPORAL_ADDRESS} takes no connection`,
          'start it, or correct TEMPORAL_ADDRESS (empty: the embedded one)',
        );
  }
  const cliPath = await findTemporalCli(env);
  if (!cliPath)
    return failed('Temporal', 'no server and no Temporal CLI', 'run `npm run setup`, or set TEMPORAL_ADDRESS');
  try {
    const { stdout } = await promisify(execFile)(cliPath, ['--version'], { timeout: 10_000 });
    return ok('Temporal', `embedded: ${stdout.trim()}`);
  } catch {
    return failed(
      'Temporal',
      `${cliPath} does not run here`,
      'delete it and run `npm run setup`, or set TEMPORAL_CLI_PATH to one that runs',
    );
  }
}

function answers(address: string): Promise<boolean> {
  const { hostname, port } = new URL(`tcp://${address}`);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port || 7233), timeout: 3_000 });
    const end = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket
      .on('connect', () => end(true))
      .on('error', () => end(false))
      .on('timeout', () => end(false));
  });
}

async function examinePostgres(env: NodeJS.ProcessEnv, config: Config | undefined): Promise<CheckResult[]> {
  // The embedded database takes a single connection, which a running service holds, and that service's health check
  // tests it.
  if (!env.DATABASE_URL) return [ok('Postgres', 'embedded; migrated at each start')];
  const { examineDatabase } = await import('../platform/db/startable.ts');
  const faults = await examineDatabase(config ?? { DATABASE_URL: env.DATABASE_URL, DATABASE_POOL_SIZE: 1 });
  if (faults.length === 0) return [ok('Postgres', 'reachable, schema up to date')];
  return faults.map(({ setting, found, mend, kind }) =>
    (kind === 'doubtful' ? warning : failed)('Postgres', `${setting}: ${found}`, mend),
  );
}

async function examinePorts(config: Config, env: NodeJS.ProcessEnv, dataDir: string): Promise<CheckResult[]> {
  const credentials = await readCredentials(dataDir).catch(() => undefined);
  const own = JSON.stringify(credentials ?? {});
  return Promise.all(
    wantedPorts(config, env).map(async (wanted) => {
      const name = `port ${wanted.port}`;
      if (await isFree(wanted)) return ok(name, `free, for ${wanted.setting}`);
      // The service of this very directory may have the port.
      if (own.includes(`:${wanted.port}`))
        return ok(name, `${wanted.setting}: in use, as by the service of ${dataDir}`);
      return failed(
        name,
        `${wanted.setting}: in use by another program`,
        `stop that program, or set ${wanted.setting} to another port`,
      );
    }),
  );
}

/** Without a price a budget cannot be kept: the project that was tried first would stop at its first call. */
function examinePrice(config: Config | undefined): CheckResult[] {
  if (!config?.OPENAI_COMPATIBLE_BASE_URL) return [];
  const { OPENAI_COMPATIBLE_MODEL: model, OPENAI_COMPATIBLE_PRICE: ofServer } = config;
  const usage = { inputTokens: 1_000_000, outputTokens: 1_000_000 };
  const usd = createPrices(readCatalogue(config))({ model, provider: 'openai-compatible' }, usage, { ofServer });
  if (usd !== null) return [ok('price', `${model}: ${usd} USD for a million tokens in and a million out`)];
  return [
    warning(
      'price',
      `what ${model} costs is not known: with a budget its first call is refused (model_unpriced)`,
      'set OPENAI_COMPATIBLE_PRICE: 0 for a server of your own, else <input>,<output> in US dollars for a million tokens',
    ),
  ];
}

function examineModels(env: NodeJS.ProcessEnv): CheckResult {
  const models = modelsIn(env);
  if (models.length > 0) return ok('models', models.join(', '));
  return warning('models', 'none configured: runs use the offline model', `set ${MODEL_SETTINGS} for real answers`);
}
