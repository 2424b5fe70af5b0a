/** Follows the event log of the workspace as it grows (`GET /v1/live`). */
import { CONTROL_PLANE, type Connection } from './connection.ts';
import type { LiveEvent, LiveGap, LiveOpen, LiveText } from './generated/types.gen.ts';
import type { ServerSentEvent } from './sse.ts';
import { dataOf, followStream, type FollowOptions } from './stream.ts';

export type EventKind = LiveEvent['kind'];

export interface LiveFilter extends FollowOptions {
  /** Only events of this run. */
  runId?: string | undefined;
  /** Only events of this project and of its steps' runs. */
  projectId?: string | undefined;
  kinds?: readonly EventKind[] | undefined;
  /**
   * Asks for texts while models write them. Where it is left out, they come for one run or project and not for a whole
   * workspace.
   */
  text?: boolean | undefined;
}

/**
 * A piece of what a model is writing. It belongs at `offset` of what came before: `text = text.slice(0, offset) +
 * piece.text`. It is provisional: a lost connection may lose some of it, and the record of the turn has the whole.
 */
export type TextPiece = LiveText;

/** An event that this version of the package does not know, because the service is newer. */
export interface UnknownItem {
  kind: 'unknown';
  /** The name of the event in the stream. */
  name: string;
  /** The stream resumes after this cursor. */
  cursor: string | undefined;
  data: unknown;
}

/**
 * - `open`: from this cursor on, the stream has every event; it comes with each connection
 * - `gap`: events between the two cursors are not kept any more
 * - `text`: what a model is writing
 */
export type LiveItem =
  | LiveEvent
  | ({ kind: 'open' } & LiveOpen)
  | ({ kind: 'gap' } & LiveGap)
  | ({ kind: 'text' } & TextPiece)
  | UnknownItem;

const KINDS: readonly string[] = [
  'run',
  'project',
  'wait',
  'delivery',
  'output',
  'schedule',
  'integration',
  'start',
] satisfies EventKind[];

/** Follows `GET /v1/live`. */
export async function* followLive(
  { transport, request }: Pick<Connection, 'transport' | 'request'>,
  { runId, projectId, kinds, text, ...follow }: LiveFilter,
): AsyncGenerator<LiveItem> {
  const query = {
    run_id: runId,
    project_id: projectId,
    kind: kinds?.join(','),
    text: text?.toString(),
    after: follow.after,
  };
  const ask = () => request(`${CONTROL_PLANE}/v1/live`, query);
  for await (const event of followStream(transport, ask, follow)) yield itemOf(event);
}

function itemOf(sent: ServerSentEvent): LiveItem {
  const { event: name, id } = sent;
  if (name === 'open') return { kind: name, ...dataOf<LiveOpen>(sent) };
  if (name === 'gap') return { kind: name, ...dataOf<LiveGap>(sent) };
  if (name === 'text') return { kind: name, ...dataOf<LiveText>(sent) };
  if (KINDS.includes(name)) return dataOf<LiveEvent>(sent);
  return { kind: 'unknown', name, cursor: id || undefined, data: dataOf<unknown>(sent) };
}
