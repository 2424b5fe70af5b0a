/**
 * Limits what a library unpacks that has no limit of its own: it unpacks a stream as a whole, into memory that the limit of
 * the thread does not count. So it is counted where the library asks for it. A thread does one job at a time.
 */
import { present } from '../core/present.ts';
import { MAX_UNPACKED_BYTES } from './model.ts';

const TOO_MUCH = 'a document unpacks to too much';
/** Smaller pieces are left to the limit of time. */
const COUNTED = 256 * 1024;

/** Errors of the library keep their words and lose their class. */
export const isTooMuch = (message: string): boolean => message.includes(TOO_MUCH);

/** Does `work`, in which no more than the limit is unpacked, and leaves the thread as it was. */
export async function withUnpackLimit<Result>(work: () => Promise<Result>): Promise<Result> {
  // Doubling a buffer until it is large enough takes twice what is in it, and one is copied from time to time.
  let room = 4 * MAX_UNPACKED_BYTES;
  const counted = <Constructor extends Uint8ArrayConstructor | Int8ArrayConstructor>(type: Constructor) =>
    new Proxy(type, {
      construct(target, args: unknown[], newTarget) {
        const [size] = args;
        if (typeof size === 'number' && size > COUNTED) room -= size;
        if (room < 0) throw new RangeError(TOO_MUCH);
        return present<unknown>(Reflect.construct(target, args, newTarget));
      },
    });
  const { Uint8Array, Int8Array, DecompressionStream } = globalThis;
  globalThis.Uint8Array = counted(Uint8Array);
  globalThis.Int8Array = counted(Int8Array);
  // Without it the library unpacks by itself, which is counted.
  Reflect.deleteProperty(globalThis, 'DecompressionStream');
  try {
    return await work();
  } finally {
    Object.assign(globalThis, { Uint8Array, Int8Array, DecompressionStream });
  }
}
