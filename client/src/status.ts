/**
 * Yields the state of one thing each time its status has changed. It uses the stream that the thing's own address gives
 * to API keys, where the service has the extension `sse`, and polls where it has not.
 */
import type { Connection } from './connection.ts';
import type { TextPiece } from './live.ts';
import { dataOf, followStream, hasNoStream, NoStreamError } from './stream.ts';
import { createPace } from './waiting.ts';

export interface Watched<State> {
  /** The thing's address on the public API; undefined where there is no key to ask with. */
  path: string | undefined;
  /** Turns the answer of the address into a state. */
  stateOf: (answer: never) => State;
  read: (signal?: AbortSignal) => Promise<State>;
  isOver: (state: State) => boolean;
  /** False says that nobody reads texts, so that the service does nothing for them. */
  text: boolean;
}

export type StatusUpdate<State> = { kind: 'status'; state: State } | { kind: 'text'; piece: TextPiece };

/** Yields states until the thing has ended. */
export async function* followStatus<State extends { status: string }>(
  { transport, request }: Pick<Connection, 'transport' | 'request'>,
  { path, stateOf, read, isOver, text }: Watched<State>,
  signal: AbortSignal | undefined,
): AsyncGenerator<StatusUpdate<State>> {
  let last: string | undefined;
  const changed = (state: State): StatusUpdate<State>[] => {
    const isNew = state.status !== last;
    last = state.status;
    return isNew ? [{ kind: 'status', state }] : [];
  };
  let looked: State | undefined;
  if (path !== undefined) {
    try {
      for await (const sent of followStream(transport, () => request(path, { text: `${text}` }), { signal })) {
        if (text && sent.event === 'text') yield { kind: 'text', piece: dataOf(sent) };
        if (sent.event !== 'status') continue;
        const state = stateOf(dataOf(sent));
        yield* changed(state);
        if (isOver(state)) return;
      }
    } catch (error) {
      if (!hasNoStream(error)) throw error;
      if (error instanceof NoStreamError && error.answer !== undefined) looked = stateOf(error.answer as never);
    }
  }
  const pace = createPace(signal);
  for (; ; await pace.next()) {
    const state = looked ?? (await read(signal));
    looked = undefined;
    const news = changed(state);
    if (news.length > 0) pace.reset();
    yield* news;
    if (isOver(state)) return;
  }
}
