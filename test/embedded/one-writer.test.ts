/** One writer a data directory, and one connection to its database: whoever comes second is told so, and the service never waits. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres, type EmbeddedPostgres } from '../../src/embedded/postgres.ts';
import { claimDataDir, startTime, stopServersOn } from '../../src/embedded/stale.ts';
import { itemAt, present } from '../../src/platform/core/present.ts';
import { APPLICATION_NAME } from '../../src/platform/db/application-name.ts';
import { eventually } from '../support/service/service.ts';

let folder: string;
let postgres: EmbeddedPostgres;
const open: pg.Client[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-writer-'));
  postgres = await startPostgres({ dataDir: join(folder, 'postgres') });
});
afterEach(() => Promise.all(open.splice(0).map((client) => client.end().catch(() => {}))));
afterAll(async () => {
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function connectAs(application_name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: postgres.url, application_name });
  client.on('error', () => {});
  open.push(client);
  await client.connect();
  return client;
}

describe('one writer', () => {
  // Guards against: two databases that write over each other's pages because neither knew of the other.
  test('a second database on one directory does not start', async () => {
    const second = startPostgres({ dataDir: join(folder, 'postgres') });
    await expect(second).rejects.toThrow(/another process has the database in .*postgres; stop it first/);
    expect((await (await connectAs('psql')).query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  // Guards against: a Temporal server that outlives its service unnoticed and runs beside the next one.
  test('whoever works on a file is found by its command line, and nobody else', async () => {
    const file = join(folder, 'temporal.db');
    const children = [
      ['--db-filename', file],
      ['--db-filename', `${file}x`],
      ['--read', file],
    ].map((args): ChildProcess => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '--', ...args]));
    await eventually(async () => {
      for (const { pid } of children) expect(await startTime(present(pid))).toBeDefined();
    });
    await stopServersOn(file);
    const [server, ...others] = children;
    expect(await startTime(present(present(server).pid))).toBeUndefined();
    for (const other of others) {
      expect(await startTime(present(other.pid))).toBeDefined();
      other.kill('SIGKILL');
      await once(other, 'exit');
    }
  });

  // Guards against: a second server beside the first, after a restart on a full disk failed half-way.
  test('what cannot be noted runs on, and is noted when it can be', async () => {
    const dataDir = join(folder, 'claimed');
    await mkdir(dataDir);
    const claim = await claimDataDir(dataDir);
    // Nothing can be put in the place of the file while a directory with something in it has its name.
    const notes = join(dataDir, 'processes.json');
    await rm(notes);
    await mkdir(notes);
    await writeFile(join(notes, 'in-the-way'), '');
    await claim.remember('postgres', process.pid);
    await rm(notes, { recursive: true });
    await eventually(async () => {
      const noted = JSON.parse(await readFile(notes, 'utf8')) as object;
      expect(Object.keys(noted).sort()).toEqual(['postgres', 'service']);
    });
    claim.release();
  });
});

describe('one connection', () => {
  // Guards against: `psql` at the printed address waiting without a message.
  test('another client is told that the service has it', async () => {
    const service = await connectAs(APPLICATION_NAME);
    await expect(connectAs('psql')).rejects.toMatchObject({
      code: '53300',
      message: expect.stringContaining('the service has it'),
      hint: expect.stringContaining('Stop the service'),
    });
    expect((await service.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  // Guards against: the service waiting for another client that has a transaction open.
  test('the service does not wait for it', async () => {
    const other = await connectAs('psql');
    const ended = new Promise((resolve) => other.once('end', resolve));
    await other.query('create table theirs (id int)');
    await other.query('begin');
    await other.query('insert into theirs values (1)');
    const service = await connectAs(APPLICATION_NAME);
    expect((await service.query('select count(*)::int as rows from theirs')).rows).toEqual([{ rows: 0 }]);
    await ended;
  });

  // Guards against: the connection of a service that comes back at once meeting its own earlier one.
  test('one after the other is served, those of the service first', async () => {
    const first = await connectAs(APPLICATION_NAME);
    const later = [connectAs('psql'), connectAs(APPLICATION_NAME)];
    await new Promise((resolve) => setTimeout(resolve, 100));
    await first.end();
    const again = await itemAt(later, 1);
    expect((await again.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await again.end();
    expect((await (await itemAt(later, 0)).query('select 2 as two')).rows).toEqual([{ two: 2 }]);
  });

  // Guards against: what a client sends together with its first message, unheard.
  test('a client may ask before it is let in', async () => {
    const socket = connect(Number(new URL(postgres.url).port), '127.0.0.1');
    const startup = '\0\0\0\x17\0\x03\0\0user\0postgres\0\0';
    socket.write(`${startup}Q\0\0\0\x19select 'heard' as it\0X\0\0\0\x04`);
    const answers: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => answers.push(chunk));
    await once(socket, 'close');
    expect(Buffer.concat(answers).toString('latin1')).toContain('heard');
  });

  // Guards against: a client that asks for encryption first, as psql does, and one that sends nothing or nonsense.
  test('however it begins', async () => {
    const port = Number(new URL(postgres.url).port);
    const silent = connect(port, '127.0.0.1');
    const nonsense = connect(port, '127.0.0.1');
    nonsense.write('GET / HTTP/1.1\r\n\r\n');
    await once(nonsense, 'close');
    const asking = connect(port, '127.0.0.1');
    asking.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]));
    expect(String((await once(asking, 'data'))[0])).toBe('N');
    expect((await (await connectAs('psql')).query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    for (const socket of [silent, asking]) socket.destroy();
  });
});
