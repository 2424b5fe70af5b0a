/** What one stream has yet to send: bounded, so that a reader who takes nothing costs a known amount and then is cut off. */
import { present } from '../../platform/core/present.ts';
import { endFrame } from '../../platform/http/stream.ts';

/** Frames are shared by all streams that get them: this bounds how far one may be behind, more than what it takes. */
const MAX_BYTES = 2 ** 20;
/** Of frames that are given out together, which are copied for each stream. */
const CHUNK_BYTES = 2 ** 16;

export type Mailbox = ReturnType<typeof createMailbox>;

export function createMailbox(maxBytes = MAX_BYTES) {
  let waiting: string[] = [];
  let bytes = 0;
  let isClosed = false;
  /** More than the bound came at once, and the reader has had no time yet to take any of it. */
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
     * Where more than the bound waits from before, all of it is dropped for the word that it was: a client resumes after the last
     * that it has seen. What comes at once may be more: that says nothing about its reader.
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

    /** Nothing is taken in any more; what waits is still given out, and then this. */
    close,

    /** Some of what waits, as soon as there is something; undefined when it is closed and empty. */
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
