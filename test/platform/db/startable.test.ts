/** What a start says of a database that it cannot work on: each on a real server that is wrong in that one way. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import getTlsOptions from 'smtp-server/lib/tls-options.js';
import { freePort } from '../../../src/platform/core/port.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { examineDatabase, requireDatabase } from '../../../src/platform/db/startable.ts';
import { withDatabase } from '../../support/database/database-template.ts';
import { startNativePostgres, type PostgresServer } from '../../support/database/native-postgres.ts';
import { startTcpProxy } from '../../support/faults/tcp-proxy.ts';
import { portOf } from '../../support/processes/listening.ts';

let server: PostgresServer;
beforeAll(async () => {
  const started = await startNativePostgres(['fsync=off', 'max_connections=30']);
  if (typeof started === 'string') throw new Error(started);
  server = started;
  await as(server.url, 'create database ready', `create role plain login password 'right'`);
  await migrate(withDatabase(server.url, 'ready'));
  const { rows } = await as(server.url, 'show hba_file');
  const hba = [
    'host all postgres,nobody all trust',
    'host all walled all reject',
    'host all plain,single,old all scram-sha-256',
  ];
  await as(
    server.url,
    `copy (select unnest(array[${hba.map((line) => `'${line}'`).join()}])) to '${String(rows[0]?.hba_file)}'`,
    'select pg_reload_conf()',
  );
});
afterAll(() => server?.stop());

/** @returns what the last statement gave */
async function as(url: string, ...statements: string[]): Promise<pg.QueryResult<Record<string, unknown>>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let result = await client.query<Record<string, unknown>>('select');
    for (const statement of statements) result = await client.query(statement);
    return result;
  } finally {
    await client.end();
  }
}

const address = (user: string, database = 'ready', rest = ''): string =>
  `postgres://${user}@127.0.0.1:${server.port}/${database}${rest}`;
const examine = (DATABASE_URL: string, DATABASE_POOL_SIZE = 10) =>
  examineDatabase({ DATABASE_URL, DATABASE_POOL_SIZE });
/** What `aos doctor` shows, and the start: the kind, what was found, and what mends it. */
const told = async (url: string, poolSize?: number) =>
  (await examine(url, poolSize)).map(({ kind, setting, found, mend }) => `${kind} ${setting}: ${found} -> ${mend}`);

// Guards against: a check that finds fault with what is right.
test('a database that is right', async () => {
  expect(await told(address('postgres'))).toEqual([]);
});

/** By a name of its own that goes before the catalogue's, a role sees a server that differs in that one thing. */
const seeing = (role: string, ...definitions: string[]) =>
  as(
    address('postgres'),
    `create schema ${role}`,
    ...definitions,
    `create role ${role} login superuser`,
    `alter role ${role} set search_path = ${role}, pg_catalog, public`,
  ).then(() => as(server.url, `alter role ${role} password 'right'`));

const CASES: [name: string, make: () => Promise<string>, told: RegExp, poolSize?: number][] = [
  [
    'text that is no address',
    async () => 'postgres://[nowhere/x',
    /^wrong DATABASE_URL: cannot be used .* -> expects postgres:/,
  ],
  ['host', async () => 'postgres://a@nosuch.invalid/x', /^away .*(no host|name) nosuch\.invalid.* -> .*getent hosts/],
  [
    'port',
    async () => `postgres://a@127.0.0.1:${await freePort()}/x`,
    /^away .*nothing listens at 127.* -> .*pg_isready/,
  ],
  [
    'TLS that the server lacks',
    async () => address('plain:right', 'ready', '?sslmode=require'),
    /^wrong .*no TLS.* -> set sslmode=disable/,
  ],
  ['password', async () => address('plain:wrong'), /^wrong .*no role plain with this password -> .*alter role "plain"/],
  ['no password', async () => address('plain'), /^wrong .*plain needs a password.* -> write it/],
  ['role', async () => address('nobody'), /^wrong .*no role nobody -> .*create role "nobody"/],
  ['a wall', async () => address('walled'), /^wrong .*takes no connection from here.* -> .*pg_hba\.conf/],
  [
    'a wall for all but TLS',
    async () => address('stranger'),
    /^wrong .*no connection without TLS.* -> set sslmode=verify-full/,
  ],
  [
    'database',
    async () => address('postgres', 'nosuch'),
    /^wrong .*no database nosuch -> .*createdb -O postgres nosuch/,
  ],
  [
    'version',
    async () => {
      await seeing(
        'old',
        `create function old.current_setting(name text) returns text language sql as
          $$ select case name when 'server_version_num' then '140011' else pg_catalog.current_setting(name) end $$`,
      );
      return address('old:right');
    },
    /^wrong .*is Postgres 14, .* 15 or newer -> upgrade it \(`pg_upgrade`\)/,
  ],
  [
    'no vector',
    async () => {
      await as(server.url, 'create database bare');
      await as(
        address('postgres', 'bare'),
        'create schema poor',
        'create view poor.pg_available_extensions as select * from pg_catalog.pg_available_extensions limit 0',
        'alter database bare set search_path = poor, pg_catalog, public',
      );
      return address('postgres', 'bare');
    },
    /^wrong .*no extension `vector`.* -> .*apt install postgresql-\d+-pgvector/,
  ],
  [
    'vector that may not be made',
    async () => {
      await as(server.url, 'create database empty');
      return address('plain:right', 'empty');
    },
    /^wrong .*plain may not create the extension `vector` -> .*psql -d empty -c 'create extension vector'/,
  ],
  [
    'too few rights',
    async () => {
      await as(server.url, 'create database closed', 'revoke connect on database closed from public');
      return address('plain:right', 'closed');
    },
    /^wrong .*plain has too few rights .* -> .*alter database "closed" owner to "plain"/,
  ],
  [
    'read-only',
    async () => {
      await as(
        server.url,
        'create database still template ready',
        'alter database still set default_transaction_read_only = on',
      );
      return address('postgres', 'still');
    },
    /^wrong .*database still is read-only -> .*set default_transaction_read_only = off/,
  ],
  [
    'a schema that is behind',
    async () => {
      await as(server.url, 'create database behind template ready');
      await as(
        address('postgres', 'behind'),
        'delete from drizzle.__drizzle_migrations where created_at = (select max(created_at) from drizzle.__drizzle_migrations)',
      );
      return address('postgres', 'behind');
    },
    /^behind .*1 migrations are not applied -> run `npm run migrate`/,
  ],
  [
    'a schema from before 1.0',
    async () => {
      await as(server.url, 'create database early template ready');
      await as(
        address('postgres', 'early'),
        `insert into drizzle.__drizzle_migrations (hash, created_at) values ('x', 1795265055549)`,
      );
      return address('postgres', 'early');
    },
    /^wrong .*made by a version before 1\.0.* -> export .*aos workspaces export.* empty database$/,
  ],
  [
    'a schema from a newer version',
    async () => {
      await as(server.url, 'create database ahead template ready');
      await as(
        address('postgres', 'ahead'),
        `insert into drizzle.__drizzle_migrations (hash, created_at) values ('x', 9e12)`,
      );
      return address('postgres', 'ahead');
    },
    /^doubtful .*of a newer version.* -> start that version/,
  ],
  [
    'fewer connections than the pool',
    async () => address('postgres'),
    /^doubtful DATABASE_POOL_SIZE: is 100, .* 27 connections -> .*max_connections/,
    100,
  ],
];

// Guards: whatever is not right is one line with the setting, what was found and what mends it, and nothing of the password.
test.each(CASES)('%s', async (...[, make, expected, poolSize]) => {
  const lines = await told(await make(), poolSize);
  expect(lines).toContainEqual(expect.stringMatching(expected));
  for (const line of lines) {
    expect(line).not.toContain('\n');
    expect(line).not.toMatch(/:right|undefined/);
  }
});

// Guards: the same where nothing is left for one more.
test('no connection left', async () => {
  await as(server.url, `create role single login password 'right' connection limit 1`);
  const held = new pg.Client({ connectionString: address('single:right') });
  await held.connect();
  expect(await told(address('single:right'))).toEqual([
    expect.stringMatching(/^away .*no connection left .* -> lower DATABASE_POOL_SIZE.*max_connections/),
  ]);
  await held.end();
});

// Guards: a certificate that is not trusted is told as that. The server ends TLS as Postgres does; behind it is nothing.
test('TLS that is not trusted', async () => {
  const secure = createServer((socket) => {
    socket.once('data', () => {
      socket.write('S', () => {
        new TLSSocket(socket, { isServer: true, ...getTlsOptions() }).on('error', () => socket.destroy());
      });
    });
  }).listen(0, '127.0.0.1');
  await once(secure, 'listening');
  const url = `postgres://a@127.0.0.1:${portOf(secure)}/x?sslmode=verify-full`;
  expect(await told(url)).toEqual([expect.stringMatching(/^wrong .*TLS certificate .* -> .*sslrootcert=/)]);
  secure.close();
});

const silent = () => {
  const lines: string[] = [];
  const say = (about: object | string) => void lines.push(JSON.stringify(about));
  return { lines, log: { info: say, warn: say } as Parameters<typeof requireDatabase>[1]['log'] };
};

// Guards: a database that is away is waited for, whichever way it is, with a line that says what for.
test.each(['refuse', 'hang'] as const)('is waited for (connections %s)', async (how) => {
  const wire = await startTcpProxy(`127.0.0.1:${server.port}`);
  await wire.cut(how);
  const { lines, log } = silent();
  let isReady = false;
  const settings = { DATABASE_URL: `postgres://postgres@${wire.address}/ready`, DATABASE_POOL_SIZE: 10 };
  const waiting = requireDatabase(settings, { log }).then(() => (isReady = true));
  while (lines.length === 0) await sleep(20);
  expect([isReady, lines]).toEqual([false, [expect.stringContaining(`DATABASE_URL: `)]]);
  await wire.restore();
  await waiting;
  await wire.close();
});

// Guards: what stays away in the end, and what cannot pass by itself at once, is one line and no stack; what a migration mends does not
// keep it from migrating, and what may be meant so is only told.
test('what ends a start', async () => {
  const { lines, log } = silent();
  const require = (url: string, more: { willMigrate?: boolean; giveUpAfterMs?: number } = {}) =>
    requireDatabase({ DATABASE_URL: url, DATABASE_POOL_SIZE: 10 }, { log, ...more });
  const away = `postgres://a@127.0.0.1:${await freePort()}/x`;
  await expect(require(away, { giveUpAfterMs: 0 })).rejects.toThrow(/^DATABASE_URL: nothing listens at .*$/);
  await expect(require(address('postgres', 'nosuch'))).rejects.toThrow(
    /^DATABASE_URL: there is no database nosuch; .*$/,
  );
  await expect(require(address('postgres', 'behind'))).rejects.toThrow(
    /^DATABASE_URL: 1 migrations are not applied; .*$/,
  );
  await require(address('postgres', 'behind'), { willMigrate: true });
  lines.length = 0;
  await require(address('postgres', 'ahead'));
  expect(lines).toEqual([expect.stringContaining('of a newer version')]);
});

// Guards: a database of a version before 1.0 is refused with one line by the start and by the migration, and is left as it is.
test('a database of a version before 1.0', async () => {
  await as(server.url, 'create database older');
  await as(
    address('postgres', 'older'),
    'create schema drizzle',
    'create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)',
    `insert into drizzle.__drizzle_migrations (hash, created_at) values ('first', 1795265055549), ('last', 1795785243162)`,
  );
  const settings = { DATABASE_URL: address('postgres', 'older'), DATABASE_POOL_SIZE: 10 };
  const line = /^DATABASE_URL: the database was made by a version before 1\.0, .*$/;
  await expect(requireDatabase(settings, { ...silent(), willMigrate: true })).rejects.toThrow(line);
  await expect(migrate(settings.DATABASE_URL)).rejects.toThrow(line);
  const { rows } = await as(
    settings.DATABASE_URL,
    `select count(*)::int as tables from pg_tables where schemaname = 'public'`,
  );
  expect(rows).toEqual([{ tables: 0 }]);
});

// Guards: the rights that a migration finds missing on its way are told in the same form.
test('a migration that may not make what it needs', async () => {
  await as(server.url, 'create database guarded');
  await as(address('postgres', 'guarded'), 'create extension vector');
  await expect(migrate(address('plain:right', 'guarded'))).rejects.toThrow(
    /^DATABASE_URL: the role plain has too few rights .*$/,
  );
});

// Guards: a standby, which is up and takes no write. It is the last test, because the server stays one.
test('a standby', async () => {
  const { rows } = await as(server.url, 'show data_directory');
  await as(server.url, `copy (select '') to '${String(rows[0]?.data_directory)}/standby.signal'`);
  await server.stop();
  await server.start();
  expect(await told(address('postgres'))).toEqual([
    expect.stringMatching(/^wrong .*read-only standby -> .*pg_promote/),
  ]);
});
