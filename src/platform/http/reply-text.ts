/**
 * The text of replies, for their reader. Stored texts name pages without the key that answers them
 * (`core/page-keys.ts`): callers who may change the workspace get working addresses, viewers get none.
 */
import { withoutPageKeys, type PageKeys } from '../core/page-keys.ts';
import { can } from '../core/rights.ts';
import type { Caller, EventStream } from './endpoint.ts';

const PAGES = /(\/miniapps\/)[\w-]+/g;

/** Texts that people paste can hold keys. */
const forViewer = (text: string): string => withoutPageKeys(text).replace(PAGES, '$1***');

/** @returns JSON as this caller may read it */
export const jsonTextFor = (caller: Caller, json: string, pageKeys?: PageKeys): string => {
  if (!can(caller, 'workspace.change')) return forViewer(json);
  return pageKeys ? pageKeys.addTo(caller.customerId, json) : json;
};

/**
 * Does the same for events. Pieces are of whole events, so that no address is cut in two. A text that a model is writing
 * comes in parts that are put at offsets, so its length must not change; it never holds a key.
 * @param current returns the caller as last checked, because a stream may outlast what its caller may see
 */
export const streamFor = (current: () => Caller, stream: EventStream, pageKeys?: PageKeys): EventStream =>
  async function* (gone) {
    for await (const piece of stream(gone))
      yield piece
        .split(/(?<=\n\n)/)
        .map((event) => (event.startsWith('event: text\n') ? event : jsonTextFor(current(), event, pageKeys)))
        .join('');
  };
