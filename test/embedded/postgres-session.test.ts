/** How a client's messages reach PGlite and how it is answered, with the real PGlite. */
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import pg from 'pg';
import { converse } from '../../src/embedded/postgres-session.ts';
import { keepUp } from '../../src/embedded/upkeep.ts';
import { portOf } from '../../src/platform/core/port.ts';

let db: PGlite;
let server: Server;
let client: pg.Client;
/** Bytes of each piece in which a client's messages arrive; undefined leaves them as they are. */
let pieceBytes: number | undefined;
let answers: number;
let broken: unknown[];

beforeAll(async () => {
  db = await PGlite.create('memory://');
  server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(async () => {
  pieceBytes = undefined;
  broken = [];
  await connect();
  answers = 0;
});
afterAll(async () => {
  server?.close();
  await db?.close();
});

function serve(socket: Socket): void {
  socket.on('error', () => {});
  socket.once('data', (startup: Buffer) => converse(db, new Watched(socket), startup, (error) => broken.push(error)));
}

/** A client's socket, which counts what is written at once and may give what it reads in pieces. */
class Watched extends Duplex {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      const bytes = pieceBytes ?? chunk.length;
      for (let at = 0; at < chunk.length; at += bytes) this.push(chunk.subarray(at, at + bytes));
    });
    socket.on('close', () => this.destroy());
  }

  override _read(): void {
    // What comes is given on as it comes.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    answers += 1;
    this.#socket.write(chunk, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'utf8', done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }
}

async function connect(): Promise<void> {
  await client?.end().catch(() => {});
  await db.exec('discard all');
  client = new pg.Client({ connectionString: `postgres://postgres:postgres@127.0.0.1:${portOf(server)}/postgres` });
  client.on('error', () => {});
  await client.connect();
}

const prepared = (value: unknown) =>
  client.query({ name: 'length', text: 'select length($1::text) as bytes', values: [value] });

describe('a client of the embedded database', () => {
  // Guards against: four messages of one statement carried out, answered and sent one at a time, which took three times as long.
  test('is answered once for a statement of several messages', async () => {
    expect((await prepared('first')).rows).toEqual([{ bytes: 5 }]);
    const before = answers;
    expect((await prepared('second')).rows).toEqual([{ bytes: 6 }]);
    expect(answers - before).toBe(1);
  });

  // Guards against: a message that is cut where a packet ends, in its head, its length or what follows.
  test.each([1, 2, 3, 5, 7, 64])('is understood in pieces of %d bytes', async (bytes) => {
    pieceBytes = bytes;
    expect((await prepared('x'.repeat(1_000))).rows).toEqual([{ bytes: 1_000 }]);
    await expect(client.query('select 1 as one; select 1/0')).rejects.toThrow('division by zero');
  });

  // Guards against: a large value that is copied anew for each packet of it, and one that is larger than a buffer.
  test('sends and gets large values', async () => {
    const value = 'x'.repeat(20_000_000);
    expect((await prepared(value)).rows).toEqual([{ bytes: value.length }]);
    const { rows } = await client.query<{ value: string }>(`select repeat('y', 20000000) as value`);
    expect(rows[0]?.value).toHaveLength(20_000_000);
  });

  // Guards against: what follows a failed statement carried out as if it had not failed, or never answered.
  test('is told of an error, and goes on', async () => {
    await expect(client.query('select 1/0')).rejects.toThrow('division by zero');
    await expect(client.query({ name: 'no', text: 'select $1::int', values: ['no'] })).rejects.toThrow('invalid input');
    await client.query('begin');
    await expect(client.query('nonsense')).rejects.toThrow('syntax error');
    await expect(client.query('select 1')).rejects.toThrow('current transaction is aborted');
    await client.query('rollback');
    expect((await prepared('after')).rows).toEqual([{ bytes: 5 }]);
  });

  // Guards against: the end of one client taken by PGlite for its own, and bytes that are no message read for ever.
  test.each(['Q\0\0\0\x0dselect 1\0X\0\0\0\x04', 'Q\0\0\0\0nonsense'])('may end with %j', async (last) => {
    await client.end();
    const socket = connectSocket(portOf(server), '127.0.0.1');
    socket.write('\0\0\0\x17\0\x03\0\0user\0postgres\0\0');
    await once(socket, 'data');
    socket.resume().write(last);
    await once(socket, 'close');
    await connect();
    expect((await prepared('after')).rows).toEqual([{ bytes: 5 }]);
    expect(broken).toEqual([]);
  });
});

// Guards: a client has the answers to its own statements and no others, whatever the server asks the database meanwhile.
test('upkeep in between is answered to nobody', async () => {
  await client.query('create table kept_up (n int); insert into kept_up select generate_series(1, 500)');
  answers = 0;
  expect(await keepUp(db)).toContain('kept_up');
  expect(answers).toBe(0);

  for (let n = 0; n < 20; n++) {
    const ask = client.query('select $1::int as n, count(*)::int as of from kept_up', [n]);
    const [{ rows }] = await Promise.all([ask, keepUp(db)]);
    expect(rows).toEqual([{ n, of: 500 }]);
  }
  expect(broken).toEqual([]);
});
