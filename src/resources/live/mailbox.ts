/**
 * Holds what one stream has yet to send. It is bounded, so that a reader which takes nothing costs a known amount of
 * memory and is then cut off, instead of holding up the others or filling the process.
 */
import { present } from '../../platform/core/present.ts';
import { endFrame } from '../../platform/http/stream.ts';

/**
 * A stream may be behind by this much. The frames are shared by all streams that get them, so this limits how far a
 * reader may fall behind rather than how much memory is in use.
 */
const MAX_BYTES = 2 ** 20;
/** Frames are given out together up to this size. Joining them copies them for each stream, so the pieces are small. */
const CHUNK_BYTES = 2 ** 16;

export type Mailbox = ReturnType<typeof createMailbox>;

export function createMailbox(maxBytes = MAX_BYTES) {
  let waiting: string[] = [];
  let bytes = 0;
  let isClosed = false;
  /** Is set where more than the bound came at once, until the reader has had time to take some of it. */
  let isBurst = false;
  let wake: (() => void) | undefined;

  const close = (last = ''): void => {
    if (isClosed) return;
    isClosed = true;
    waiting.push(last);
    wake?.();
  };

  return {
    /**
     * Adds a frame. Where more than the bound is waiting already, all of it is dropped and the stream ends with
     * `slow_reader`. Nothing is lost by that, because a client resumes after the last event that it has seen. A burst that
     * is larger than the bound by itself is let through, because it says nothing about how fast the reader is.
     */
    push(frame: string): void {
      if (isClosed) return;
      if (bytes > maxBytes && !isBurst) {
        waiting = [];
        close(endFrame('slow_reader'));
        return;
      }
      waiting.push(frame);
      bytes += frame.length;
      wake?.();
      if (bytes <= maxBytes || isBurst) return;
      isBurst = true;
      setImmediate(() => (isBurst = false));
    },

    /** Takes no more frames. What waits is still given out, and then `last`. */
    close,

    /** @returns some of what waits, as soon as there is something; undefined once the mailbox is closed and empty */
    async take(): Promise<string | undefined> {
      if (waiting.length === 0 && !isClosed) {
        await new Promise<void>((resolve) => (wake = resolve));
        wake = undefined;
      }
      if (waiting.length === 0) return undefined;
      let count = 0;
      let size = 0;
      do {
        size += present(waiting[count]).length;
        count += 1;
      } while (count < waiting.length && size + present(waiting[count]).length <= CHUNK_BYTES);
      bytes -= size;
      return waiting.splice(0, count).join('');
    },
  };
}
