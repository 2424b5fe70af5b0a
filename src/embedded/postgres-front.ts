/**
 * Who may talk to a database that takes one connection at a time. The service comes first, and nobody else keeps it
 * waiting; another client (`psql`) has the database while the service is away, and is told so where it is not.
 *
 * Speaks as much of the Postgres protocol as it takes to know who asks and to refuse: version 3, the start of a connection.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { itemAt } from '../platform/core/present.ts';

export interface FrontOptions {
  /** Answers a client whose first message this is. */
  converse: (socket: Socket, startup: Buffer) => void;
  /** The service connects under this `application_name`. */
  service: string;
  /** It runs after each connection and makes the session as new as on any Postgres. */
  renew: () => Promise<unknown>;
  onUse: () => void;
}

interface Client {
  socket: Socket;
  isService: boolean;
  /** The client's first message, which the database has to get. */
  startup: Buffer;
}

/** Others wait this long for their turn. */
const PATIENCE_MS = 5_000;
/** An SSL or GSS request is this long, and its code follows the length. */
const REQUEST_BYTES = 8;
const ENCRYPTION_REQUESTS = [80_877_103, 80_877_104];
const CANCEL_REQUEST = 80_877_102;
/** No client's startup message is longer. */
const MAX_STARTUP_BYTES = 10_000;

export function createFront({ converse, service, renew, onUse }: FrontOptions): Server {
  const waiting: Client[] = [];
  let served: Client | undefined;

  function serveNext(): void {
    if (served) return;
    const at = waiting.findIndex(({ isService }) => isService);
    const [client] = waiting.splice(Math.max(at, 0), 1);
    if (!client) return;
    if (client.socket.destroyed) return serveNext();
    serve(client);
  }

  function serve(client: Client): void {
    served = client;
    const { socket, startup } = client;
    socket.on('close', () => {
      void renew()
        .catch(() => {})
        .then(() => {
          served = undefined;
          serveNext();
        });
    });
    socket.on('data', onUse);
    converse(socket, startup);
    socket.resume();
  }

  function enqueue(client: Client): void {
    waiting.push(client);
    if (!client.isService) {
      const timer = setTimeout(() => {
        const at = waiting.indexOf(client);
        if (at < 0) return;
        waiting.splice(at, 1);
        refuse(client.socket, '53300', 'the embedded database takes one connection, and the service has it');
      }, PATIENCE_MS);
      client.socket.once('close', () => clearTimeout(timer));
    } else if (served && !served.isService) {
      refuse(served.socket, '57P01', 'the service has come back, and the embedded database takes one connection');
    }
    serveNext();
  }

  return createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    readStartup(socket, (startup) =>
      enqueue({ socket, startup, isService: parametersOf(startup).get('application_name') === service }),
    );
  });
}

/** Reads up to the end of the first message, declining to encrypt what does not leave the machine. */
function readStartup(socket: Socket, done: (startup: Buffer) => void): void {
  let bytes: Buffer = Buffer.alloc(0);
  const read = (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= REQUEST_BYTES) {
      const [length, code] = [bytes.readInt32BE(0), bytes.readInt32BE(4)];
      if (length < REQUEST_BYTES || length > MAX_STARTUP_BYTES || code === CANCEL_REQUEST) return void socket.destroy();
      if (bytes.length < length) return;
      if (!ENCRYPTION_REQUESTS.includes(code)) {
        socket.off('data', read).pause();
        if (bytes.length > length) socket.unshift(bytes.subarray(length));
        return done(bytes.subarray(0, length));
      }
      bytes = bytes.subarray(length);
      socket.write('N');
    }
  };
  socket.on('data', read);
}

/** Reads names and values, each ended by a zero, after length and version. */
function parametersOf(startup: Buffer): Map<string, string> {
  const texts = startup.subarray(REQUEST_BYTES, startup.readInt32BE(0)).toString('utf8').split('\0');
  const parameters = new Map<string, string>();
  for (let i = 0; i + 1 < texts.length && texts[i] !== ''; i += 2)
    parameters.set(itemAt(texts, i), itemAt(texts, i + 1));
  return parameters;
}

const HINT =
  'Stop the service to look into its database, or give it a Postgres of your own: DATABASE_URL. What the API tells, `npx aos` shows.';

/** Sends an ErrorResponse and closes. */
function refuse(socket: Socket, code: string, message: string): void {
  const fields = [`SFATAL`, `VFATAL`, `C${code}`, `M${message}`, `H${HINT}`].map((field) => `${field}\0`).join('');
  const body = Buffer.from(`${fields}\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(body.length + 4, 1);
  socket.end(Buffer.concat([head, body]));
  // A client that does not listen is not waited for.
  setTimeout(() => socket.destroy(), 1_000).unref();
}
