/**
 * Runs and projects as they happen, by the client package: from the stream of the service, and where it has none, or no place
 * for another listener, by asking again and again.
 */
import type { Client, RunUpdate, TextPiece } from '../../client/src/index.ts';
import { CliError } from './output.ts';
import type { ServiceClient } from './client.ts';

/** A project whose stream cannot be had. */
const POLL_MS = 250;
/** And one that is streamed: not all that can be seen of a project is an event of it. */
const LOOK_MS = 5_000;
/** What happens together is looked at together. */
const SETTLE_MS = 50;

/** Loaded only where something is followed: it takes as long as all the rest of the command line. */
async function clientOf({ baseUrl, session }: ServiceClient): Promise<Client> {
  if (!session) throw new CliError('no session for this service: use `aos login`, or set AOS_SESSION');
  const { createClient } = await import('../../client/src/index.ts');
  return createClient({ baseUrl, session });
}

/**
 * Each event once, in order, until the run has ended.
 * @param text also what its models write, while they write it
 * @throws CliError
 */
export async function* followRun(
  service: ServiceClient,
  runId: string,
  { text }: { text: boolean },
): AsyncGenerator<RunUpdate> {
  const aos = await clientOf(service);
  try {
    yield* aos.runs.open(runId).events({ text });
  } catch (error) {
    const { AosError } = await import('../../client/src/index.ts');
    throw error instanceof AosError ? new CliError(error.message) : error;
  }
}

export interface Changes {
  /** Resolves when something may have changed since it was last asked. */
  next(): Promise<void>;
  stop(): void;
}

/** Tells when to look at a project again. @throws CliError */
export async function changesOf(service: ServiceClient, projectId: string): Promise<Changes> {
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
    for await (const _ of aos.live({ projectId, kinds: ['project'], text: false, signal: over.signal })) note();
  };
  // What is wrong with the service is met, and told, by who then looks.
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

/** A text on a terminal, while it is written; other lines may stand between its parts. */
export function createTextWriter(write: (text: string) => void) {
  let text = '';
  let isInLine = false;
  const endLine = () => {
    if (isInLine) write('\n');
    isInLine = false;
  };
  return {
    add({ offset, text: piece }: Pick<TextPiece, 'offset' | 'text'>): void {
      const goesOn = isInLine && offset === text.length;
      text = text.slice(0, offset) + piece;
      if (!goesOn) endLine();
      write(goesOn ? piece : text);
      isInLine = true;
    },
    /** Before anything else is printed. */
    endLine,
    /** All of the last one. */
    text: () => text,
  };
}
