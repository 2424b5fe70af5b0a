/**
 * Follows what happens with the client package: by the service's stream, or by polling where the
 * service has none or no place for another listener.
 */
import type { Client, LiveFilter, RunUpdate, TextPiece } from '../../client/src/index.ts';
import { CliError } from './output.ts';
import { createRestartWait, isAwayStatus, type ServiceClient } from './client.ts';

/** The pause between two reads of what is watched, where there is no stream. */
const POLL_MS = 250;
/**
 * The pause where there is a stream. It is read now and then too, because not every visible change is an event.
 */
const LOOK_MS = 5_000;
/** Changes that happen together within this time cause one read. */
const SETTLE_MS = 50;

/**
 * The client is loaded only where something is followed, because that takes as long as the rest of the command line.
 */
async function clientOf({ baseUrl, session }: ServiceClient): Promise<Client> {
  if (!session) throw new CliError('no session for this service: use `aos login`, or set AOS_SESSION');
  const { createClient } = await import('../../client/src/index.ts');
  return createClient({ baseUrl, session });
}

/**
 * Yields each event once, in order, until the run has ended, also over a restart of the service.
 * @param text asks also for what its models write, while they write it
 * @throws CliError
 */
export async function* followRun(
  service: ServiceClient,
  runId: string,
  { text }: { text: boolean },
): AsyncGenerator<RunUpdate> {
  const aos = await clientOf(service);
  const { AosError, ConnectionError, ServiceError } = await import('../../client/src/index.ts');
  const restart = createRestartWait(
    service,
    (error) => error instanceof ConnectionError || (error instanceof ServiceError && isAwayStatus(error.status)),
  );
  // The run was accepted a moment ago.
  restart.answered();
  let last = 0;
  for (;;) {
    try {
      for await (const update of aos.runs.open(runId).events({ text })) {
        restart.answered();
        if (update.kind === 'event' && update.event.id <= last) continue;
        if (update.kind === 'event') last = update.event.id;
        yield update;
      }
      return;
    } catch (error) {
      await restart.afterError(error).catch((reason: unknown) => {
        throw reason instanceof AosError ? new CliError(reason.message) : reason;
      });
    }
  }
}

export interface Changes {
  /** Resolves when something may have changed since the last call. */
  next(): Promise<void>;
  stop(): void;
}

/**
 * Tells when to read again what is watched.
 * @param watched says which events change it
 * @throws CliError
 */
export async function changesOf(
  service: ServiceClient,
  watched: Pick<LiveFilter, 'projectId' | 'kinds'>,
): Promise<Changes> {
  const aos = await clientOf(service);
  const over = new AbortController();
  let isStreamed = true;
  let happened = false;
  let wake = () => {};
  const note = () => {
    happened = true;
    wake();
  };
  const follow = async () => {
    for await (const _ of aos.live({ ...watched, text: false, signal: over.signal })) note();
  };
  // An error of the service is reported by the read that follows.
  const gone = () => {
    isStreamed = false;
    note();
  };
  void follow().then(gone, gone);
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return {
    async next() {
      if (!happened) await pause(isStreamed ? LOOK_MS : POLL_MS);
      wake = () => {};
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      happened = false;
    },
    stop: () => over.abort(),
  };
}

/** Writes a text to a terminal while it is written; other lines may stand between its parts. */
export function createTextWriter(write: (text: string) => void) {
  let before = '';
  let text = '';
  let isInLine = false;
  const endLine = () => {
    if (isInLine) write('\n');
    isInLine = false;
  };
  return {
    add({ offset, text: piece }: Pick<TextPiece, 'offset' | 'text'>): void {
      const goesOn = isInLine && offset === text.length;
      if (offset === 0) before += text;
      text = text.slice(0, offset) + piece;
      if (!goesOn) endLine();
      write(goesOn ? piece : text);
      isInLine = true;
    },
    /** Ends the current line, before anything else is printed. */
    endLine,
    /** Whether this stands above already: an answer that was cut off comes as several texts. */
    hasWritten: (output: string) => (before + text).endsWith(output),
  };
}
