/** How V8 keeps what is allocated. */
import v8 from 'node:v8';

/**
 * Lets whatever is allocated begin young. V8 would otherwise go by what it saw while the service started: parts of
 * statements, many of which are constants, live long there. It would then make those of each request old at once, where
 * they keep what they lead to until the next great collection.
 */
export const allocateYoung = (): void => v8.setFlagsFromString('--no-allocation-site-pretenuring');
