/**
 * A wire from one process to Postgres that knows which statement goes over it, and can hold it there: before the server
 * sees it, or when the server has committed it and before the process hears of that. What a kill at that moment leaves
 * behind is what no test in the process itself could make. Or it is only the answer that is lost: the wire is cut there.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { itemAt } from '../../src/platform/core/present.ts';
import { portOf } from '../support/processes/listening.ts';

export interface Trap {
  statement: RegExp;
  /** `before` the server has the statement (or its commit); `after` it committed. */
  when: 'before' | 'after';
  /** Nothing more goes over the connection from here on. */
  sprung(): void;
}

export interface Wire {
  /** host:port; for the process. */
  address: string;
  /** Springs once. */
  trap: Trap | undefined;
  /**
   * Called when the server has committed what these statements wrote, and before the process hears of it.
   * @returns whether it never is to: the connection ends there
   */
  written: ((statements: readonly string[]) => boolean) | undefined;
  close(): Promise<void>;
}

/** @param target host:port of the server */
export async function startWire(target: string): Promise<Wire> {
  const [host, port] = target.split(':');
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), host);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => open.delete(socket));
    }
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    watch(client, upstream, wire);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const wire: Wire = {
    address: `127.0.0.1:${portOf(server)}`,
    trap: undefined,
    written: undefined,
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return wire;
}

const IDLE = 'I'.charCodeAt(0);
/** A lock (`for update`) writes nothing. */
const WRITES = /\b(insert\s+into|delete\s+from|(?<!for\s+|for\s+no\s+key\s+)update)\s+"?[a-z_]/i;

/** Passes everything on, until the trap springs. */
function watch(client: Socket, upstream: Socket, wire: Wire): void {
  const statements = new Map<string, string>();
  /** The one that this connection has met, where its answer is what is waited for. */
  let met: Trap | undefined;
  let isHeld = false;
  /** Of the transaction that is under way. */
  let writing: string[] = [];
  const spring = (trap: Trap): void => {
    isHeld = true;
    trap.sprung();
  };
  const meet = (text: string | undefined): void => {
    const { trap } = wire;
    if (text !== undefined && WRITES.test(text)) writing.push(text);
    if (text !== undefined && /^rollback/i.test(text)) writing = [];
    if (!trap || text === undefined || !trap.statement.test(text)) return;
    wire.trap = undefined;
    if (trap.when === 'before') spring(trap);
    else met = trap;
  };

  const fromClient = messages(true, (type, body) => {
    const [first = '', second = ''] = body.toString('utf8').split('\0', 2);
    if (type === 'P') statements.set(first, second);
    if (type === 'B') meet(statements.get(second));
    if (type === 'Q') meet(first);
  });
  const fromServer = messages(false, (type, body) => {
    if (type === 'E') writing = [];
    // In a transaction until it says that it is not.
    if (type !== 'Z' || body[0] !== IDLE) return;
    if (met) spring(met);
    if (writing.length > 0 && wire.written?.(writing)) {
      isHeld = true;
      client.destroy();
    }
    writing = [];
  });
  client.on('data', (chunk) => {
    if (isHeld) return;
    fromClient(chunk);
    if (!isHeld) upstream.write(chunk);
  });
  upstream.on('data', (chunk) => {
    if (isHeld) return;
    fromServer(chunk);
    if (!isHeld) client.write(chunk);
  });
}

/** Cuts the protocol into its messages. The first one of a client has no type. */
function messages(isClient: boolean, each: (type: string, body: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = isClient;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const typeLength = isFirst ? 0 : 1;
      if (rest.length < typeLength + 4) return;
      const end = typeLength + rest.readInt32BE(typeLength);
      if (rest.length < end) return;
      if (!isFirst) each(String.fromCharCode(itemAt(rest, 0)), rest.subarray(5, end));
      isFirst = false;
      rest = rest.subarray(end);
    }
  };
}
