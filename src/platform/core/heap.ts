/** How V8 keeps what is allocated. */
import v8 from 'node:v8';

/** Called before the first work of a process, whichever way it is started. */
export function tuneHeap(): void {
  // V8 would otherwise go by what it saw while the service started: parts of statements, many of which are constants, live
  // long there. It would then make those of each request old at once, where they keep what they lead to until the next
  // great collection.
  v8.setFlagsFromString('--no-allocation-site-pretenuring');
  // A small heap would otherwise grow to four times what lives in it before it is looked through.
  v8.setFlagsFromString('--heap-growing-percent=50');
}
