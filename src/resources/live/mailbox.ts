/** What one stream has yet to send: bounded, so that a reader who takes nothing costs a known amount and then is cut off. */
import { endFrame } from '../../platform/http/stream.ts';

/** Frames are shared by all streams that get them: this bounds how far one may be behind, more than what it takes. */
const MAX_BYTES = 2 ** 20;

export type Mailbox = ReturnType<typeof createMailbox>;

export function createMailbox(maxBytes = MAX_BYTES) {
  let waiting: string[] = [];
  let bytes = 0;
  let isClosed = false;
  let wake: (() => void) | undefined;

  const close = (last = ''): void => {
    if (isClosed) return;
    isClosed = true;
    waiting.push(last);
    wake?.();
  };

  return {
    /** Beyond the bound everything that waits is dropped for the word that it was: a client resumes after the last it has seen. */
    push(frame: string): void {
      if (isClosed) return;
      bytes += frame.length;
      if (bytes > maxBytes) {
        waiting = [];
        close(endFrame('slow_reader'));
        return;
      }
      waiting.push(frame);
      wake?.();
    },

    /** Nothing is taken in any more; what waits is still given out, and then this. */
    close,

    /** All that waits, as soon as there is something; undefined when it is closed and empty. */
    async take(): Promise<string | undefined> {
      if (waiting.length === 0 && !isClosed) {
        await new Promise<void>((resolve) => (wake = resolve));
        wake = undefined;
      }
      if (waiting.length === 0) return undefined;
      const frames = waiting.join('');
      waiting = [];
      bytes = 0;
      return frames;
    },
  };
}
