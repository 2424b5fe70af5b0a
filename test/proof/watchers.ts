/**
 * Those who follow a workspace while its processes are killed, each by the client package, which connects again after the
 * last event that came, to whichever API answers. What each has seen in the end is held against the log in the database.
 */
import { createClient, type EventKind, type LiveItem } from '../../client/src/index.ts';
import { itemAt, present } from '../../src/platform/core/present.ts';
import { BEGINNING, cursorOf, EVENT_KINDS, isAfter, placeOf, type Place } from '../../src/resources/event-log/model.ts';
import { createEventLogStore } from '../../src/resources/event-log/store/read.ts';
import type { Deployment } from '../support/processes/deployment.ts';
import type { Workload } from './workload.ts';

/** What each follows: everything, or some of it. */
const WATCHED: readonly { name: string; kinds?: readonly EventKind[] }[] = [
  { name: 'everything' },
  { name: 'everything, too' },
  { name: 'runs', kinds: ['run'] },
  { name: 'all but runs', kinds: EVENT_KINDS.filter((kind) => kind !== 'run') },
];
const PAGE = 500;
const PATIENCE_MS = 60_000;

interface Watcher {
  name: string;
  kinds: readonly EventKind[] | undefined;
  from: Place | undefined;
  seen: string[];
  /** How many runs were withdrawn while it followed. */
  withdrawn: number;
  gaps: number;
  failure: string | undefined;
}

export interface Watchers {
  /** Waits until each has seen what there is, or for long enough. @returns what was found, and how much was looked at */
  finish(): Promise<{ did: Record<string, number>; violations: string[] }>;
}

type Watched = Pick<Deployment, 'replicas' | 'db'>;

/**
 * Resolves when every one of them is connected.
 * @param reach gives the address at which they reach an API, such as that of a fault proxy
 */
export async function startWatchers(
  deployment: Watched,
  { customerId, session }: Pick<Workload, 'customerId' | 'session'>,
  reach = (url: string): string => url,
): Promise<Watchers> {
  const over = new AbortController();
  let connections = 0;
  /** Another API each time; one that is down refuses, and the next attempt goes to the next. */
  const apis = deployment.replicas.filter(({ part }) => part === 'api');
  const somewhere: typeof fetch = (input, init) => {
    const url = reach(present(itemAt(apis, connections++ % apis.length).url));
    const asked = new Request(input, init);
    const target = new URL(asked.url);
    return fetch(new Request(new URL(target.pathname + target.search, url), asked), init);
  };

  const watch = ({ name, kinds }: (typeof WATCHED)[number]) => {
    const watcher: Watcher = {
      name,
      kinds,
      from: undefined,
      seen: [],
      withdrawn: 0,
      gaps: 0,
      failure: undefined,
    };
    const { promise: connected, resolve } = Promise.withResolvers<void>();
    const note = (item: LiveItem): void => {
      if (item.kind === 'open') {
        watcher.from ??= placeOf(item.cursor);
        resolve();
      } else if (item.kind === 'gap') watcher.gaps += 1;
      else if ('event' in item) {
        watcher.seen.push(item.cursor);
        if (item.kind === 'start') watcher.withdrawn += 1;
      } else watcher.failure = `an event that nobody expects: ${item.kind}`;
    };
    const follow = async () => {
      const aos = createClient({ baseUrl: apis[0]!.url!, session, fetch: somewhere });
      for await (const item of aos.live({ signal: over.signal, ...(kinds && { kinds }) })) note(item);
    };
    follow()
      .catch((error: unknown) => {
        if (!over.signal.aborted) watcher.failure = String(error);
      })
      .finally(resolve);
    return { watcher, connected };
  };
  const all = WATCHED.map(watch);
  await Promise.all(all.map(({ connected }) => connected));
  const watchers = all.map(({ watcher }) => watcher);

  const log = createEventLogStore(deployment.db);
  async function recordedFor({ kinds, from }: Watcher): Promise<string[]> {
    const cursors: string[] = [];
    const until = await log.end();
    for (let after = from ?? BEGINNING; isAfter(until, after);) {
      const page = await log.readPage(customerId, { kinds }, { after, until, limit: PAGE });
      cursors.push(...page.rows.map(cursorOf));
      after = page.next;
    }
    return cursors;
  }

  return {
    async finish() {
      const connected = connections;
      for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline;) {
        const ends = await Promise.all(watchers.map(async (each) => (await recordedFor(each)).at(-1)));
        if (watchers.every(({ seen, failure }, i) => failure !== undefined || seen.at(-1) === ends[i])) break;
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
      const violations: string[] = [];
      for (const watcher of watchers) violations.push(...faultsOf(watcher, await recordedFor(watcher)));
      over.abort();
      return {
        did: {
          'watchers of the workspace': watchers.length,
          'connections that they made': connected,
          'events that they saw': watchers.reduce((sum, { seen }) => sum + seen.length, 0),
          'runs that were withdrawn before their eyes': Math.max(...watchers.map(({ withdrawn }) => withdrawn)),
        },
        violations,
      };
    },
  };
}

/** What came after the comparison began is in neither. */
function faultsOf({ name, seen, gaps, failure }: Watcher, recorded: readonly string[]): string[] {
  const [had, is] = [new Set(seen), new Set(recorded)];
  const missing = recorded.filter((cursor) => !had.has(cursor));
  const foreign = seen.filter((cursor) => !is.has(cursor));
  const places = seen.map((cursor) => placeOf(cursor)!);
  const disordered = places.filter((place, i) => i > 0 && !isAfter(place, places[i - 1]!)).length;
  const faults = {
    [`did not see ${missing.length} events: ${missing.slice(0, 5).join(', ')}`]: missing.length,
    [`saw ${foreign.length} events that are not in the log: ${foreign.slice(0, 5).join(', ')}`]: foreign.length,
    [`saw ${seen.length - had.size} events more than once`]: seen.length - had.size,
    [`saw ${disordered} events out of order`]: disordered,
    [`was told of ${gaps} gaps`]: gaps,
    'saw nothing': seen.length === 0 ? 1 : 0,
    [`gave up: ${failure}`]: failure === undefined ? 0 : 1,
  };
  return Object.entries(faults).flatMap(([what, times]) => (times > 0 ? [`the watcher of ${name} ${what}`] : []));
}
