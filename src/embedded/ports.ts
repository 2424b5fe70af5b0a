/** Checks ports before anything starts, so that a busy one is a message about a setting and not a stack trace. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCodeOf } from '../platform/core/causes.ts';
import { ConfigError, type Config } from '../platform/core/config.ts';
import { freePort, portTaken } from '../platform/core/port.ts';
import { readPrivateJson, writePrivateJson } from './private-file.ts';

export interface WantedPort {
  setting: string;
  /** The value 0 takes any free port. */
  port: number;
  /** Where it is undefined the port is taken on all interfaces. */
  host?: string;
  /** The port belongs to a server beside the service, which outlives a killed service by a moment. */
  isServers?: boolean;
}

/** A port of such a server is waited for this long. */
const LINGERS_MS = 5_000;
const LOOK_MS = 50;

/** @returns the ports that the settings ask for; those of embedded servers only where somebody fixed them */
export function wantedPorts(config: Config, env: NodeJS.ProcessEnv): WantedPort[] {
  const { SURFACES } = config;
  return [
    ...(SURFACES === 'control-plane' ? [] : [{ setting: 'PORT', port: config.PORT }]),
    ...(SURFACES === 'gateway'
      ? []
      : [{ setting: 'CONTROL_PLANE_PORT', port: config.CONTROL_PLANE_PORT, host: config.CONTROL_PLANE_HOST }]),
    { setting: 'METRICS_PORT', port: config.METRICS_PORT ?? 0, host: config.METRICS_HOST },
    ...['TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'PGLITE_PORT'].map((setting) => ({
      setting,
      port: embeddedPort(env, setting),
      host: '127.0.0.1',
      isServers: true,
    })),
  ].filter(({ port }) => port > 0);
}

/** @returns the port, or 0 where the setting is not set @throws ConfigError */
export function embeddedPort(env: NodeJS.ProcessEnv, setting: string): number {
  const port = Number(env[setting] || 0);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new ConfigError(`${setting}: expects a whole number from 0 to 65535`);
}

export async function isFree({ port, host }: WantedPort): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ port, host });
    await once(server, 'listening');
    return true;
  } catch (error) {
    // Only "taken" is a verdict; any other trouble shows itself, with its own words, at the real attempt.
    return errorCodeOf(error) !== 'EADDRINUSE';
  } finally {
    server.close();
  }
}

async function isFreeSoon(wanted: WantedPort, lingersMs = LINGERS_MS): Promise<boolean> {
  for (const deadline = performance.now() + lingersMs; performance.now() < deadline; await sleep(LOOK_MS)) {
    if (await isFree(wanted)) return true;
  }
  return false;
}

/** @throws ConfigError that names each busy port and its setting */
export async function requireFreePorts(wanted: readonly WantedPort[]): Promise<void> {
  const free = await Promise.all(wanted.map((each) => (each.isServers ? isFreeSoon(each) : isFree(each))));
  const busy = wanted.filter((_, i) => !free[i]);
  if (busy.length === 0) return;
  throw new ConfigError(busy.map(({ setting, port }) => portTaken(setting, port)).join('\n'));
}

interface Warnings {
  warn(about: object, message: string): void;
}
interface KeptPorts {
  temporal_ui: number;
}
/** A port that was kept is waited for only so long, as there are others. */
const KEPT_LINGERS_MS = 1_000;
export const PORTS_FILE = 'ports.json';

/**
 * The port of the Temporal Web UI, whose address people keep: that of the last start on this data directory, or, where
 * somebody else has it, a new one from now on.
 */
export async function keptUiPort(dataDir: string, log: Warnings): Promise<number> {
  const file = join(dataDir, PORTS_FILE);
  const kept = (await readPrivateJson<KeptPorts>(file))?.temporal_ui;
  if (kept) {
    const wanted = { setting: 'TEMPORAL_UI_PORT', port: kept, host: '127.0.0.1' };
    if (await isFreeSoon(wanted, KEPT_LINGERS_MS)) return kept;
  }
  const port = await freePort();
  if (kept) {
    log.warn(
      { port, taken: kept },
      `port ${kept}, where the Temporal Web UI was, is in use: it is at ${port} from now on (TEMPORAL_UI_PORT sets one)`,
    );
  }
  await writePrivateJson(file, { temporal_ui: port } satisfies KeptPorts);
  return port;
}
