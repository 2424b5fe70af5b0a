/**
 * Addresses of pages take an answer of whoever has them, and runs and their events have them in texts. Who only looks at a
 * workspace is shown everything with these taken out.
 */
import { can } from '../core/rights.ts';
import type { Caller, EventStream } from './endpoint.ts';

const PAGES = /(\/miniapps\/)[\w-]+/g;

const withheld = (text: string): string => text.replace(PAGES, '$1***');

/** @returns the JSON of a reply, as this caller may see it */
export const jsonFor = (caller: Caller, reply: unknown): string => {
  const json = JSON.stringify(reply);
  return can(caller, 'workspace.change') ? json : withheld(json);
};

/**
 * The same for events. Pieces are of whole events, so that no address is cut in two.
 * @param current gives the caller as last looked at, because a stream may outlast what its caller may see
 */
export const streamFor = (current: () => Caller, stream: EventStream): EventStream =>
  async function* (gone) {
    for await (const piece of stream(gone)) yield can(current(), 'workspace.change') ? piece : withheld(piece);
  };
