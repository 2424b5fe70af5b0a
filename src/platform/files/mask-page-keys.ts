/** Masks keys of page addresses in the bytes of a file, which keep their number. Compressed files are passed on as they are. */
import { Transform } from 'node:stream';
import { withPageKeysMasked } from '../core/page-keys.ts';

/** No address is longer. */
const LONGEST = 512;

/** @returns a stream to pipe the file through */
export function maskPageKeys(): Transform {
  /** The last bytes as they came. Those before `given` were passed on; an address may begin in them and end later. */
  let seen: Buffer = Buffer.alloc(0);
  let given = 0;
  const giveUpTo = (end: number): Buffer => {
    // One character a byte, so that any bytes come out as they went in.
    const masked = Buffer.from(withPageKeysMasked(seen.toString('latin1')), 'latin1').subarray(given, end);
    const start = Math.max(0, end - LONGEST);
    seen = seen.subarray(start);
    given = end - start;
    return masked;
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen = Buffer.concat([seen, chunk]);
      done(null, giveUpTo(Math.max(given, seen.length - LONGEST)));
    },
    flush: (done) => done(null, giveUpTo(seen.length)),
  });
}
