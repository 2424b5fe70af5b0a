/** The part of tar-stream that is used here, as its version 2 brings no types. It is the one that dockerode brings. */
declare module 'tar-stream' {
  import type { Readable, Writable } from 'node:stream';

  interface Header {
    name: string;
    size?: number;
    mode?: number;
    mtime?: Date;
  }

  interface Pack extends Readable {
    entry(header: Header, done: (error?: Error | null) => void): Writable;
    finalize(): void;
  }

  export function pack(): Pack;

  interface Extract extends Writable {
    on(event: 'entry', take: (header: Header, body: Readable, next: (error?: Error) => void) => void): this;
    on(event: string, listener: (...args: unknown[]) => void): this;
  }

  export function extract(): Extract;
}
