/** What the deployment takes: CPU by part, memory of each process, connections, rows and bytes by table. */
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sql } from 'drizzle-orm';
import { first, present } from '../../../src/platform/core/present.ts';
import type { Deployment } from '../../support/processes/deployment.ts';
import { cpuOf, memoryOf } from '../processes.ts';
import type { Inside } from './inside.ts';

/** Settings of the processes that `insideOf` asks. */
export const TALKATIVE = {
  NODE_OPTIONS: `--expose-gc --import=${fileURLToPath(new URL('./inside.ts', import.meta.url))}`,
};

export const PARTS = ['api', 'worker', 'postgres', 'temporal'] as const;
export type ByPart = Record<(typeof PARTS)[number], number>;

export const byPart = (of: (part: keyof ByPart) => number): ByPart => ({
  api: of('api'),
  worker: of('worker'),
  postgres: of('postgres'),
  temporal: of('temporal'),
});

const pidsOf = ({ replicas, postgres, pids }: Deployment): Record<keyof ByPart, number[]> => {
  const of = (part: 'api' | 'worker') =>
    replicas.flatMap(({ part: its, running }) => (its === part && running ? [present(running.child.pid)] : []));
  return { api: of('api'), worker: of('worker'), postgres: [postgres.pid()], temporal: [pids().temporal] };
};

/** CPU milliseconds used so far. */
export function cpuByPart(deployment: Deployment): ByPart {
  const pids = pidsOf(deployment);
  return byPart((part) => cpuOf(pids[part]).total);
}

export const difference = (from: ByPart, to: ByPart): ByPart => byPart((part) => to[part] - from[part]);

/** Megabytes by replica, and of the two servers. */
export function memoryByProcess(deployment: Deployment): Record<string, number> {
  const pids = pidsOf(deployment);
  return {
    ...Object.fromEntries(
      deployment.replicas.map(({ name, running }) => [name, running ? memoryOf([present(running.child.pid)]) : 0]),
    ),
    postgres: memoryOf(pids.postgres),
    temporal: memoryOf(pids.temporal),
  };
}

const INSIDE_MS = 60_000;

/** Collects garbage in each process of the service and says what is left, by replica. */
export async function insideOf({ replicas, folder }: Deployment): Promise<Record<string, Inside>> {
  const asked = await Promise.all(
    replicas.map(async ({ name, running }) => {
      const { pid } = present(running).child;
      const file = join(folder, `inside-${pid}.json`);
      await rm(file, { force: true });
      process.kill(present(pid), 'SIGUSR2');
      for (const deadline = Date.now() + INSIDE_MS; Date.now() < deadline; await sleep(50)) {
        const text = await readFile(file, 'utf8').catch(() => undefined);
        if (text !== undefined) return [name, JSON.parse(text) as Inside] as const;
      }
      throw new Error(`${name} does not say what it holds`);
    }),
  );
  return Object.fromEntries(asked);
}

/** Of the service's own, now. */
export async function connectionsOf({ db }: Deployment): Promise<number> {
  const row = first(
    await db.rows<{ count: number }>(sql`
    select count(*)::int as count from pg_stat_activity where application_name = 'agent-orchestration-service'
      and pid <> pg_backend_pid()`),
  );
  return row.count;
}

export interface Stored {
  /** By table; bytes with indexes and what is kept beside it. */
  tables: Record<string, { rows: number; bytes: number }>;
  /** Of the write-ahead log so far: what a replica or a backup has to follow. */
  walBytes: number;
  /** Of Temporal's own database file. */
  temporalBytes: number;
}

export async function storedIn({ db, folder }: Deployment): Promise<Stored> {
  const names = await db.rows<{ name: string; bytes: number }>(sql`
    select relname as name, pg_total_relation_size(oid)::float8 as bytes from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname`);
  const tables: Stored['tables'] = {};
  for (const { name, bytes } of names) {
    const row = first(await db.rows<{ rows: number }>(sql`select count(*)::int as rows from ${sql.identifier(name)}`));
    tables[name] = { rows: row.rows, bytes };
  }
  const wal = first(
    await db.rows<{ bytes: number }>(sql`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes`),
  );
  const { size } = await stat(join(folder, 'temporal.db'));
  return { tables, walBytes: wal.bytes, temporalBytes: size };
}

/** Per unit, tables that grew only. */
export function growth(from: Stored, to: Stored, units: number) {
  const tables = Object.entries(to.tables)
    .map(([table, { rows, bytes }]) => ({
      table,
      rows: (rows - (from.tables[table]?.rows ?? 0)) / units,
      bytes: (bytes - (from.tables[table]?.bytes ?? 0)) / units,
    }))
    .filter(({ rows, bytes }) => rows > 0 || bytes > 0);
  return {
    tables,
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    bytes: tables.reduce((sum, { bytes }) => sum + bytes, 0),
    walBytes: (to.walBytes - from.walBytes) / units,
    temporalBytes: (to.temporalBytes - from.temporalBytes) / units,
  };
}
