/** Looks, before a start, whether the database is one that the service can work on, and waits for one that is away. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { messageOf } from '../core/causes.ts';
import { ConfigError, type Config } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { first } from '../core/present.ts';
import { APPLICATION_NAME } from './application-name.ts';
import { beforeBaseline, faultIn, lineOf, noVector, readOnly, type DatabaseFault } from './faults.ts';
import { appliedMigrations, isBeforeBaseline, migrationTimes } from './migrate.ts';

type Settings = Pick<Config, 'DATABASE_URL' | 'DATABASE_POOL_SIZE'>;

const OLDEST = 15;
const CONNECT_MS = 5_000;
const LOOK_MS = 500;
const LINE_MS = 5_000;

export interface Waiting {
  log: Pick<Log, 'info' | 'warn'>;
  /** The schema is brought up to date afterwards. */
  willMigrate?: boolean;
  giveUpAfterMs?: number;
}

/** @throws ConfigError with a line for each thing that keeps the service from working on it */
export async function requireDatabase(
  settings: Settings,
  { log, willMigrate = false, giveUpAfterMs = 120_000 }: Waiting,
): Promise<void> {
  const deadline = performance.now() + giveUpAfterMs;
  for (let toldAt = -Infinity; ; await sleep(LOOK_MS)) {
    const faults = await examineDatabase(settings);
    const away = faults.find(({ kind }) => kind === 'away');
    if (!away || performance.now() > deadline) return judge(faults, { log, willMigrate });
    if (performance.now() - toldAt < LINE_MS) continue;
    toldAt = performance.now();
    log.info({ reason: lineOf(away) }, 'waiting for the database');
  }
}

function judge(faults: readonly DatabaseFault[], { log, willMigrate }: Required<Pick<Waiting, 'log' | 'willMigrate'>>) {
  for (const fault of faults) if (fault.kind === 'doubtful') log.warn(lineOf(fault));
  const grave = faults.filter(({ kind }) => kind !== 'doubtful' && !(willMigrate && kind === 'behind'));
  if (grave.length > 0) throw new ConfigError(grave.map(lineOf).join('\n'));
}

/** @returns nothing where all is well */
export async function examineDatabase({ DATABASE_URL, DATABASE_POOL_SIZE }: Settings): Promise<DatabaseFault[]> {
  let client: pg.Client;
  try {
    client = new pg.Client({
      connectionString: DATABASE_URL,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
      application_name: APPLICATION_NAME,
    });
  } catch (error) {
    return [unusable(error)];
  }
  // One that breaks is told by the statement under way; without a listener it would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    const faults = await faultsOf(client, DATABASE_POOL_SIZE);
    // The embedded database takes the next connection when this one is gone.
    await client.end();
    return faults;
  } catch (error) {
    // Nobody waits for the end of one that is broken, which may never come.
    client.end().catch(() => {});
    return [faultIn(error, client) ?? unusable(error)];
  }
}

const unusable = (error: unknown): DatabaseFault => ({
  setting: 'DATABASE_URL',
  found: `cannot be used (${messageOf(error)})`,
  mend: 'expects postgres://user:password@host:5432/name',
  kind: 'wrong',
});

interface Facts {
  version: number;
  is_standby: boolean;
  is_read_only: boolean;
  has_vector: boolean;
  offers_vector: boolean;
  may_make_vector: boolean;
  /** How many connections this role may have here. */
  connections: number;
}

async function factsOf(client: pg.Client): Promise<Facts> {
  const { rows } = await client.query<Facts>(`
    select current_setting('server_version_num')::int / 10000 as version,
      pg_is_in_recovery() as is_standby,
      current_setting('transaction_read_only') = 'on' as is_read_only,
      exists (select from pg_extension where extname = 'vector') as has_vector,
      exists (select from pg_available_extensions where name = 'vector') as offers_vector,
      rolsuper or (has_database_privilege(current_database(), 'create')
        and exists (select from pg_available_extension_versions where name = 'vector' and trusted)) as may_make_vector,
      least(
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
          - coalesce(current_setting('reserved_connections', true)::int, 0),
        nullif(rolconnlimit, -1), nullif(datconnlimit, -1)
      ) as connections
    from pg_roles, pg_database where rolname = current_user and datname = current_database()`);
  return first(rows);
}

async function faultsOf(client: pg.Client, poolSize: number): Promise<DatabaseFault[]> {
  const has = await factsOf(client);
  const faults: DatabaseFault[] = [];
  const tell = (fault: Pick<DatabaseFault, 'found' | 'mend'>, kind: DatabaseFault['kind'] = 'wrong') =>
    faults.push({ setting: 'DATABASE_URL', ...fault, kind });
  if (has.version < OLDEST) {
    tell({
      found: `the server is Postgres ${has.version}, and the service needs ${OLDEST} or newer`,
      mend: 'upgrade it (`pg_upgrade`), or name another server',
    });
  }
  if (has.is_read_only) tell(readOnly(client, has.is_standby));
  if (!has.has_vector && !has.offers_vector) tell(noVector(has.version));
  else if (!has.has_vector && !has.may_make_vector) {
    tell({
      found: `the role ${client.user} may not create the extension \`vector\``,
      mend: `have a superuser do so: \`psql -d ${client.database} -c 'create extension vector'\``,
    });
  }
  if (has.connections < poolSize) {
    faults.push({
      setting: 'DATABASE_POOL_SIZE',
      found: `is ${poolSize}, but the server gives ${client.user} ${has.connections} connections`,
      mend: 'lower it, or raise the limit: `alter system set max_connections = 300`, then start the server again',
      kind: 'doubtful',
    });
  }
  await compareSchema(client, tell);
  return faults;
}

async function compareSchema(
  client: pg.Client,
  tell: (fault: Pick<DatabaseFault, 'found' | 'mend'>, kind: DatabaseFault['kind']) => void,
): Promise<void> {
  const times = await migrationTimes();
  const applied = await appliedMigrations(client);
  if (isBeforeBaseline(applied, times)) return tell(beforeBaseline, 'wrong');
  const missing = times.filter((when) => when > applied.last).length;
  if (missing > 0) {
    tell({ found: `${missing} migrations are not applied`, mend: 'run `npm run migrate` with this version' }, 'behind');
  }
  if (applied.last > Math.max(...times)) {
    // Migrations add and do not take away, so the version before goes on; a rolling upgrade and the way back need that.
    tell(
      {
        found: 'the schema is of a newer version of the service',
        mend: 'start that version, unless you are going back on purpose: `aos --version` says which this is',
      },
      'doubtful',
    );
  }
}
