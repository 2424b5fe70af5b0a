/**
 * Keeps one stream of events for a browser, whatever the number of tabs. The tab that holds the lock has the connection
 * and tells the others. When that tab goes, the next one continues after the last event that it heard of, so that none
 * is missed.
 */

const KINDS = ['run', 'project', 'wait', 'delivery', 'output', 'schedule', 'integration', 'start', 'spending'] as const;
export type Kind = (typeof KINDS)[number];

export interface LiveEvent {
  kind: Kind;
  cursor: string;
  topic: string;
  run_id: string | null;
  project_id: string | null;
}

/** `polling` means that the stream cannot be had at the moment. */
export type LiveState = 'live' | 'polling';
type Message =
  | { event: LiveEvent }
  | { state: LiveState; cursor: string | undefined }
  | { gap: true; cursor: string | undefined }
  | { hello: true };

const ADDRESS = '/api/v1/cp/v1/live';
/** The wait before a refused stream is asked for again. It doubles each time, until the stream is had. */
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
    cursor = message.cursor;
    for (const watcher of eventWatchers) watcher('gap');
  } else if ('state' in message) {
    // A tab that has not heard of any event yet must know where to continue, too.
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

/**
 * Is called once for each tab.
 * @param workspaceId keeps apart the streams of two workspaces in two windows
 */
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
    // The promise never settles, so the tab holds the lock until it goes.
    return new Promise<never>(() => {});
  });
}

const addressNow = (): string => (cursor === undefined ? ADDRESS : `${ADDRESS}?after=${cursor}`);

/** @param waitMs is the wait before the next attempt, where the stream is refused */
function connect(tell: (message: Message) => void, waitMs = AGAIN_MS) {
  const source = new EventSource(addressNow());
  const onEvent = ({ data }: MessageEvent<string>) => tell({ event: JSON.parse(data) as LiveEvent });
  for (const kind of KINDS) source.addEventListener(kind, onEvent);
  source.addEventListener('open', (event) => {
    // The browser's own event of this name has no data; the event of the stream says where the stream begins.
    if ('data' in event) cursor ??= (JSON.parse(event.data as string) as { cursor: string }).cursor;
    tell({ state: 'live', cursor });
    waitMs = AGAIN_MS;
  });
  source.addEventListener('gap', ({ lastEventId }) => tell({ gap: true, cursor: lastEventId || cursor }));
  source.onerror = () => {
    tell({ state: 'polling', cursor });
    if (source.readyState !== EventSource.CLOSED) return;
    // The stream was refused, not broken off: there are too many, the service is away, or it does not know the cursor.
    // Pages poll meanwhile, and lead through sign-in where the session has ended.
    void isCursorUnknown().then((isUnknown) => {
      if (isUnknown) {
        tell({ gap: true, cursor: undefined });
        connect(tell);
      } else setTimeout(() => connect(tell, Math.min(2 * waitMs, AGAIN_AT_MOST_MS)), waitMs);
    });
  };
}

/**
 * Asks why the stream was refused, which the browser does not say of a stream. Only a cursor that the service does not
 * know is dropped: with any other, nothing would be missed once the stream is had again.
 */
async function isCursorUnknown(): Promise<boolean> {
  if (cursor === undefined) return false;
  const stopping = new AbortController();
  try {
    const headers = { accept: 'text/event-stream' };
    const response = await fetch(addressNow(), { headers, signal: stopping.signal });
    return response.status === 422 && (await response.text()).includes('cursor_unknown');
  } catch {
    return false;
  } finally {
    stopping.abort();
  }
}
