/**
 * One stream of events a browser, whatever the number of tabs: the tab that holds the lock has the connection and tells the
 * others. When it goes, the next one goes on from the last event that it heard of, so that nothing is missing.
 */

const KINDS = ['run', 'project', 'wait', 'delivery', 'output', 'schedule', 'integration'] as const;
export type Kind = (typeof KINDS)[number];

export interface LiveEvent {
  kind: Kind;
  cursor: string;
  topic: string;
  run_id: string | null;
  project_id: string | null;
}

/** `polling`: the stream cannot be had at the moment. */
export type LiveState = 'live' | 'polling';
type Message =
  { event: LiveEvent } | { state: LiveState; cursor: string | undefined } | { gap: true } | { hello: true };

const ADDRESS = '/api/v1/cp/v1/live';
/** Before a refused stream is asked for again; twice as long each time, until it is had. */
const AGAIN_MS = 5_000;
const AGAIN_AT_MOST_MS = 5 * 60_000;

const eventWatchers = new Set<(event: LiveEvent | 'gap') => void>();
const stateWatchers = new Set<() => void>();
let state: LiveState = 'polling';
let cursor: string | undefined;

function hear(message: Message) {
  if ('event' in message) {
    cursor = message.event.cursor;
    for (const watcher of eventWatchers) watcher(message.event);
  } else if ('gap' in message) {
    for (const watcher of eventWatchers) watcher('gap');
  } else if ('state' in message) {
    // So that a tab that has heard of no event yet knows all the same where to go on.
    cursor ??= message.cursor;
    if (message.state === state) return;
    state = message.state;
    for (const watcher of stateWatchers) watcher();
  }
}

export const liveState = (): LiveState => state;
export const watchState = (watcher: () => void) => {
  stateWatchers.add(watcher);
  return () => void stateWatchers.delete(watcher);
};
export const watchEvents = (watcher: (event: LiveEvent | 'gap') => void) => {
  eventWatchers.add(watcher);
  return () => void eventWatchers.delete(watcher);
};

let isStarted = false;

/** Once a tab. @param workspaceId two workspaces in two windows have a stream each */
export function startLive(workspaceId: string): void {
  if (isStarted || !('locks' in navigator)) return;
  isStarted = true;
  const channel = new BroadcastChannel(`console-live ${workspaceId}`);
  let isLeader = false;
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (!('hello' in data)) hear(data);
    else if (isLeader) channel.postMessage({ state, cursor } satisfies Message);
  };
  channel.postMessage({ hello: true } satisfies Message);
  const tell = (message: Message) => {
    hear(message);
    channel.postMessage(message);
  };
  void navigator.locks.request(`console-live ${workspaceId}`, () => {
    isLeader = true;
    connect(tell);
    // Held until the tab goes.
    return new Promise<never>(() => {});
  });
}

/** @param waitMs before it is asked for again, where it is refused */
function connect(tell: (message: Message) => void, waitMs = AGAIN_MS) {
  const source = new EventSource(cursor === undefined ? ADDRESS : `${ADDRESS}?after=${cursor}`);
  const onEvent = ({ data }: MessageEvent<string>) => tell({ event: JSON.parse(data) as LiveEvent });
  for (const kind of KINDS) source.addEventListener(kind, onEvent);
  source.addEventListener('open', (event) => {
    // The browser's own event of this name has no data; the stream's says where it begins.
    if ('data' in event) cursor ??= (JSON.parse(event.data as string) as { cursor: string }).cursor;
    tell({ state: 'live', cursor });
    waitMs = AGAIN_MS;
  });
  source.addEventListener('gap', () => tell({ gap: true }));
  source.onerror = () => {
    tell({ state: 'polling', cursor });
    if (source.readyState !== EventSource.CLOSED) return;
    // Refused, not broken off: too many, a service that is away, or a cursor that it does not know any more, which nothing but
    // a stream that begins anew gets over. Pages ask meanwhile, and lead through sign-in where the session is over.
    if (cursor !== undefined && waitMs > AGAIN_MS) {
      cursor = undefined;
      tell({ gap: true });
    }
    setTimeout(() => connect(tell, Math.min(2 * waitMs, AGAIN_AT_MOST_MS)), waitMs);
  };
}
