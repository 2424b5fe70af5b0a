/** A stream of events that is read whole before it is given: what makes something of an event costs many times what the event does. */
import type { Readable } from 'node:stream';
import { finished } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Makes a text of the text of a stream, which it gets as it comes. */
interface Gatherer {
  /** What it throws ends the request. */
  take(text: string): void;
  /** @returns what is to be read instead of the stream, which may have ended before its end */
  end(): string;
}
export type Gather = () => Gatherer;

interface Gathered {
  text: string;
  /** Why the stream ended before its end. */
  cut: Error | undefined;
}

/** @param count throws where the stream is over its limits */
export function gathered(source: Readable, gather: Gather, count: (chunk: Uint8Array) => void): Promise<Gathered> {
  // For small parts a TextDecoder takes several times as long.
  const decoder = new StringDecoder('utf8');
  const { take, end } = gather();
  return new Promise((resolve, reject) => {
    source.on('data', (chunk: Buffer) => {
      try {
        count(chunk);
        take(decoder.write(chunk));
      } catch (error) {
        reject(error);
        source.removeAllListeners('data').destroy();
      }
    });
    finished(source, { writable: false }, (error) => {
      try {
        resolve({ text: end(), cut: error ? new TypeError('terminated', { cause: error }) : undefined });
      } catch (fault) {
        reject(fault);
      }
    });
  });
}

/** A text is given in parts, and others have a turn between two of them: their parsers take all that is there. */
const PART = 64 * 1_024;

/** @returns a body of this text; it fails after it where the stream was cut */
export function bodyOfText({ text, cut }: Gathered): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (at > 0) await new Promise(setImmediate);
        if (at < bytes.byteLength) return controller.enqueue(bytes.subarray(at, (at += PART)));
        if (cut) controller.error(cut);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
