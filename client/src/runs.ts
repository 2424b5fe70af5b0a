/** Starts runs, follows them, and gets their answers. */
import { type Connection } from './connection.ts';
import { RunFailedError } from './errors.ts';
import {
  runsCancel,
  runsCreate,
  runsDetail,
  runsDispatch,
  runsEvents,
  runsGet,
  runsRetry,
} from './generated/sdk.gen.ts';
import type { RunEvent, RunRequest } from './generated/types.gen.ts';
import type { TextPiece } from './live.ts';
import { hasEnded, type RunState } from './states.ts';
import { followStatus } from './status.ts';
import { followTimeline } from './timeline.ts';
import { IDEMPOTENCY_KEY } from './transport.ts';
import { sumUsd } from './usd.ts';
import { createPace, eachWithin, within, type EventOptions, type WaitOptions } from './waiting.ts';

export interface RunStart {
  /** The slug of an agent. Without one the service picks. */
  agent?: string;
  prompt: string;
  /** Runs of one thread are one conversation and go one after another. */
  threadId?: string;
  /** Is used in the place of the agent's own model. */
  model?: string;
  /** The most that the run may spend, in US dollars, as a decimal. */
  budgetUsd?: string;
  transport?: RunRequest['transport'];
  /** A JSON Schema: the answer is one JSON value of it, which `RunResult.json` reads. */
  outputSchema?: Record<string, unknown>;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /**
   * Identifies the request: two requests with the same key within a day have one effect. Where it is left out, the
   * client makes one up.
   */
  idempotencyKey?: string | undefined;
}

export interface RunResult<T = unknown> {
  output: string;
  /**
   * Reads the output of a run that was started with `outputSchema`. What it is, the schema says: it is checked by the
   * service and not here.
   * @throws SyntaxError where the output is no JSON, as of any other run
   */
  json(): T;
  /**
   * What the run's calls cost, in US dollars, as a decimal; calls to models without a known price are left out. It is
   * null for a client that has only a key, because the public API does not tell it.
   */
  cost: string | null;
  run: RunState;
}

/**
 * What happens in a run. With a session it is each row of the run's timeline, with an API key each change of its
 * status. Texts that its models write come between them, where they are asked for.
 */
export type RunUpdate =
  { kind: 'event'; event: RunEvent } | { kind: 'status'; run: RunState } | { kind: 'text'; piece: TextPiece };

export interface RunHandle {
  id: string;
  /** @returns the state of the run now */
  get(options?: { signal?: AbortSignal }): Promise<RunState>;
  /** Yields what happens, from the beginning, until the run has ended. */
  events(options?: EventOptions): AsyncGenerator<RunUpdate>;
  /**
   * Waits for the run's answer.
   * @throws RunFailedError, WaitTimeoutError
   */
  result<T = unknown>(options?: WaitOptions): Promise<RunResult<T>>;
  /**
   * Needs a session.
   * @throws ServiceError run_not_in_flight
   */
  cancel(options?: CallOptions): Promise<void>;
  /** Needs a session. Starts a new run of the same request. */
  retry(options?: CallOptions): Promise<RunHandle>;
}

/** The service lists no more events than this. */
const MAX_EVENTS = 2_000;
const PAGE = 200;
const LAST_EVENTS = new Set<RunEvent['event_type']>(['run_completed', 'run_failed', 'run_cancelled']);

const isLast = ({ event_type }: RunEvent): boolean => LAST_EVENTS.has(event_type);

export interface Runs {
  /**
   * Starts a run. It answers as soon as the run is recorded.
   * @throws ServiceError, ConnectionError
   */
  start(run: RunStart, options?: CallOptions): Promise<RunHandle>;
  /** Gives the handle of a run that was started before, without asking the service. */
  open(runId: string): RunHandle;
}

export function createRuns(connection: Connection): Runs {
  const { http: client, canUseSession, canUseKey } = connection;
  const state = (runId: string, signal?: AbortSignal): Promise<RunState> => {
    const call = { client, path: { run_id: runId }, ...(signal && { signal }) };
    return canUseKey ? runsGet(call) : runsDetail(call);
  };

  const timeline = async (runId: string, limit: number, signal?: AbortSignal): Promise<RunEvent[]> =>
    (await runsEvents({ client, path: { run_id: runId }, query: { limit }, ...(signal && { signal }) })).data;

  /** Events are listed from the oldest on, so the limit grows with the number that was seen. */
  async function* pollTimeline(runId: string, after: number, signal?: AbortSignal): AsyncGenerator<RunEvent> {
    const pace = createPace(signal);
    for (let seen = 0; ; await pace.next()) {
      const events = await timeline(runId, Math.min(seen + PAGE, MAX_EVENTS), signal);
      for (const event of events.slice(seen)) if (event.id > after) yield event;
      if (events.some(isLast)) return;
      if (events.length > seen) pace.reset();
      seen = events.length;
      // Once the list is full, only the run's status tells whether it has ended.
      if (seen >= MAX_EVENTS && hasEnded(await state(runId, signal))) return;
    }
  }

  const followEvents = (runId: string, options: EventOptions): AsyncGenerator<RunUpdate> =>
    followTimeline<RunEvent>(
      connection,
      {
        filter: { runId, kinds: ['run'] },
        rowOf: (item) => (item.kind === 'run' ? item.event : undefined),
        async list(ends) {
          const listed = await timeline(runId, MAX_EVENTS, ends);
          const isOver = listed.some(isLast) || (listed.length === MAX_EVENTS && hasEnded(await state(runId, ends)));
          return { rows: listed, isAll: listed.length < MAX_EVENTS, isOver };
        },
        mayBeLast: isLast,
        poll: (seen, ends) => pollTimeline(runId, seen, ends),
      },
      { signal: options.signal, text: options.text },
    );

  const statusOf = (runId: string, { signal, text = false }: Pick<EventOptions, 'signal' | 'text'>) =>
    followStatus<RunState>(
      connection,
      {
        path: canUseKey ? `/v1/runs/${encodeURIComponent(runId)}` : undefined,
        stateOf: (run) => run,
        read: (ends) => state(runId, ends),
        isOver: hasEnded,
        text,
      },
      signal,
    );

  async function* statuses(runId: string, options: EventOptions): AsyncGenerator<RunUpdate> {
    for await (const update of statusOf(runId, options)) {
      if (update.kind === 'status') yield { kind: 'status', run: update.state };
      else yield update;
    }
  }

  const costOf = async (run: RunState, signal?: AbortSignal): Promise<string | null> =>
    canUseSession ? sumUsd((await timeline(run.run_id, MAX_EVENTS, signal)).map(({ cost_usd }) => cost_usd)) : null;

  const handle = (id: string): RunHandle => ({
    id,
    get: ({ signal } = {}) => state(id, signal),
    events: (options = {}) =>
      eachWithin(options, `run ${id}`, (signal) =>
        (canUseSession ? followEvents : statuses)(id, { ...options, signal }),
      ),
    result: <T>(options: WaitOptions = {}) =>
      within(options, `run ${id}`, async (signal) => {
        for await (const update of statusOf(id, { signal })) {
          if (update.kind !== 'status' || !hasEnded(update.state)) continue;
          const run = update.state;
          if (run.status !== 'succeeded') throw new RunFailedError(run);
          const output = run.output ?? '';
          return { output, json: (): T => JSON.parse(output), cost: await costOf(run, signal), run };
        }
        throw new Error('unreachable: a run is followed until it has ended');
      }),
    async cancel(options = {}) {
      await runsCancel({ client, path: { run_id: id }, ...callOf(options) });
    },
    retry: async (options = {}) =>
      handle((await runsRetry({ client, path: { run_id: id }, ...callOf(options) })).run_id),
  });

  return {
    async start(run, options = {}) {
      const call = { client, body: requestOf(run), ...callOf(options) };
      const { run_id } = await (canUseSession ? runsCreate(call) : runsDispatch(call));
      return handle(run_id);
    },
    open: handle,
  };
}

const requestOf = ({ agent, prompt, threadId, model, budgetUsd, transport, outputSchema }: RunStart): RunRequest => ({
  prompt,
  ...(agent !== undefined && { agent }),
  ...(transport !== undefined && { transport }),
  ...(threadId !== undefined && { thread_id: threadId }),
  ...(outputSchema !== undefined && { output_schema: outputSchema }),
  ...((model !== undefined || budgetUsd !== undefined) && {
    override: {
      ...(model !== undefined && { model_override: model }),
      ...(budgetUsd !== undefined && { cost_budget_usd: budgetUsd }),
    },
  }),
});

/** Builds the options that every call with an effect is made with. */
export const callOf = ({ signal, idempotencyKey }: CallOptions) => ({
  ...(signal && { signal }),
  ...(idempotencyKey !== undefined && { headers: { [IDEMPOTENCY_KEY]: idempotencyKey } }),
});
