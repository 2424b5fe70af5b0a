/**
 * A client's conversation with PGlite. What has arrived of it is carried out together and answered with one write; a
 * prepared statement is four messages, and one at a time they would take four of each.
 *
 * Speaks as much of the Postgres protocol as it takes to find where a message ends: version 3, after the start of a connection.
 */
import type { PGlite } from '@electric-sql/pglite';
import type { Duplex } from 'node:stream';

type Engine = Pick<PGlite, 'runExclusive' | 'execProtocolRawStream'>;

/** A type of one byte, and the length of what follows it, which counts itself. */
const HEAD_BYTES = 5;
const LENGTH_BYTES = 4;
/** The client ends the conversation. It is PGlite's own end where it reads that. */
const TERMINATE = 'X'.charCodeAt(0);

/** @param onBroken is called when PGlite itself has failed; what it holds in memory is then unknown */
export function converse(db: Engine, client: Duplex, startup: Uint8Array, onBroken: (error: unknown) => void): void {
  const carryOut = (messages: Uint8Array) =>
    db
      .runExclusive(async () => {
        if (!client.writable) return;
        client.cork();
        // The bytes are PGlite's own memory, and are others as soon as it goes on.
        await db.execProtocolRawStream(messages, { onRawData: (bytes) => void client.write(Buffer.from(bytes)) });
        client.uncork();
      })
      .catch(onBroken);

  let answered = carryOut(startup);
  const messages = new Messages();
  client.on('data', (chunk: Buffer) => {
    const { whole, isEnd } = messages.take(chunk);
    if (whole.length > 0) answered = carryOut(whole);
    if (isEnd) void answered.then(() => client.end());
  });
}

interface Arrived {
  /** These are as many messages as are complete. */
  whole: Buffer;
  /** No more is to be read: the client has said so, or has sent what is no message. */
  isEnd: boolean;
}

/** Puts messages together from the pieces in which they arrive. */
class Messages {
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** So many bytes complete the next message, as far as is known. */
  #needed = HEAD_BYTES;
  #isOver = false;

  take(chunk: Buffer): Arrived {
    if (this.#isOver) return { whole: Buffer.alloc(0), isEnd: true };
    this.#pieces.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#needed) return { whole: Buffer.alloc(0), isEnd: false };
    const all = this.#pieces.length === 1 ? chunk : Buffer.concat(this.#pieces);
    let end = 0;
    this.#needed = HEAD_BYTES;
    while (all.length - end >= HEAD_BYTES) {
      const length = all.readInt32BE(end + 1);
      this.#isOver = all[end] === TERMINATE || length < LENGTH_BYTES;
      if (this.#isOver) break;
      this.#needed = 1 + length;
      if (all.length - end < this.#needed) break;
      end += this.#needed;
      this.#needed = HEAD_BYTES;
    }
    const rest = all.subarray(end);
    this.#pieces = [rest];
    this.#bytes = rest.length;
    return { whole: all.subarray(0, end), isEnd: this.#isOver };
  }
}
