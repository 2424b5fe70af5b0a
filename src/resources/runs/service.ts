/** What a caller can do with runs. A run is accepted in Postgres, then started; what follows is the workflow's doing. */
import { AGENT_RUN, goAheadSignal, type AgentRunInput } from '../../../workflows/run/messages.ts';
import type { agentRun } from '../../../workflows/run/workflow.ts';
import type { Config } from '../../platform/core/config.ts';
import { newRunId } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import { present } from '../../platform/core/present.ts';
import { priorityOf } from '../../platform/core/priority.ts';
import { Problem } from '../../platform/core/problem.ts';
import { findSchemaProblem } from '../../platform/core/schema-checks.ts';
import { found } from '../../platform/db/client.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import type { Claim } from '../../platform/http/once-only.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import { isWorkflowGone, orAfter, withinDeadline } from '../../platform/temporal/problems.ts';
import { searchAttributes } from '../../platform/temporal/search-attributes.ts';
import { createLostStarts, createStarter } from '../../platform/temporal/starting.ts';
import { areQueuesSplit, queueName } from '../../platform/temporal/task-queues.ts';
import { capsOfCaller } from '../cost/caps/model.ts';
import type { RunContext, RunContextPage, RunRequest } from './contract.ts';
import { conversationOf, COST_WINDOWS, HISTORY_LENGTH, isTerminal, runWorkflowId, type CostWindow } from './model.ts';
import type { RunFilter } from './store/queries.ts';
import type { RunInTurn } from './store/run-in-turn.ts';
import type { RunStore } from './store/index.ts';

export type RunService = ReturnType<typeof createRunService>;

/** A run with what was said before it in its conversation. */
export type RunInConversation = RunInTurn & { earlier: readonly { prompt: string; output: string | null }[] };

/** Reports what the model of a run was shown. */
export interface ContextReports {
  summarize(run: RunInConversation): Promise<RunContext>;
  /** @returns the page that ends at `beforeByte`, or the last one where that is absent */
  page(run: RunInConversation, beforeByte?: number): RunContextPage;
}

export interface RunServiceDependencies {
  temporal: Temporal;
  store: RunStore;
  config: Pick<Config, 'RUN_DETAIL_TTL' | 'RUN_MAX_TURNS' | 'RUN_MAX_TOKENS' | 'TASK_QUEUE_PREFIX' | 'WORKER_QUEUES'>;
  log: Log;
  agentExists: (customerId: string, slug: string) => Promise<boolean>;
  contextReports: ContextReports;
}

interface StartableRun {
  id: string;
  workspaceId: string;
  customerId: string;
  agent: string | null;
}

/** A request to cancel leaves it to the workflow for this long to end the run. */
const CANCEL_PATIENCE_MS = 2_000;

const ignore = (): void => {};

export const createRunService = (deps: RunServiceDependencies) => {
  const { temporal, store, config, log, agentExists, contextReports } = deps;

  const startOnce = createStarter(store.noteStarted);

  /**
   * Starts the workflow of an accepted run. Repeating it, for a run that runs or has run, does nothing.
   * @returns whether it started
   */
  const start = (run: StartableRun): Promise<boolean> => startFrom(run, {}, 'REJECT_DUPLICATE');

  async function startFrom(
    { id, workspaceId, customerId, agent }: StartableRun,
    from: Pick<AgentRunInput, 'turn'>,
    workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE',
  ): Promise<boolean> {
    const input: AgentRunInput = {
      runId: id,
      customerId,
      workspaceId,
      agent,
      limits: { maxTurns: config.RUN_MAX_TURNS, maxTokens: config.RUN_MAX_TOKENS },
      split: areQueuesSplit(config),
      ...from,
    };
    return startOnce(id, () =>
      temporal.client.workflow.start<typeof agentRun>(AGENT_RUN, {
        workflowId: runWorkflowId(id),
        taskQueue: queueName(config, 'orchestration'),
        args: [input],
        // It starts on the worker of this process where there is one, which spares a round trip through the server.
        requestEagerStart: true,
        workflowIdReusePolicy,
        typedSearchAttributes: searchAttributes({ workspaceId, agent }),
        staticSummary: agent ?? 'picks an agent',
        staticDetails: `Run \`${id}\` of workspace \`${workspaceId}\``,
        priority: priorityOf(customerId),
      }),
    );
  }

  /** Accepts a run, then starts it. One that cannot be started is withdrawn, so that a 502 has changed nothing. */
  async function accept(caller: Caller, run: Omit<Parameters<RunStore['acceptRun']>[0], 'id' | 'customerId'>) {
    const id = newRunId();
    const { customerId, workspaceId } = caller;
    await store.acceptRun({ ...run, id, customerId, caps: capsOfCaller(customerId, caller.actor) });
    try {
      await withinDeadline(temporal, () => start({ id, workspaceId, customerId, agent: run.agent }));
    } catch (error) {
      const isWithdrawn = await store.withdrawRun(customerId, id);
      if (isWithdrawn) throw error;
      log.warn({ run_id: id, err: error }, 'the start of a run seemed to fail but did not');
    }
    return { run_id: id, status: 'queued' as const };
  }

  const findLive = async ({ customerId }: Caller, runId: string) =>
    found(await store.findRun(customerId, runId, config.RUN_DETAIL_TTL));

  async function loadInConversation({ customerId }: Caller, runId: string): Promise<RunInConversation> {
    found(await store.findRun(customerId, runId));
    const run = found(await store.loadRunInTurn(runId));
    const earlier = run.conversation === null ? [] : await store.loadEarlierExchanges(runId, HISTORY_LENGTH);
    return { ...run, earlier };
  }

  /** Tells a run that waits in a conversation that its turn has come. */
  async function giveGoAhead(runId: string): Promise<void> {
    // The run has not started yet, and will look for itself when it does.
    await wake(runId).catch((error: unknown) => {
      if (!isWorkflowGone(error)) throw error;
    });
  }

  /** Lets a run that waits ask again. Rejects if its workflow is gone. */
  const wake = (runId: string): Promise<void> =>
    temporal.client.workflow.getHandle(runWorkflowId(runId)).signal(goAheadSignal);

  return {
    start,
    giveGoAhead,
    wake,

    /** This chore starts runs that were accepted and never started. */
    startLost: createLostStarts({
      take: store.takeUnstarted,
      load: store.loadUnstarted,
      start: (run) => withinDeadline(temporal, () => start(run)),
      what: 'run',
      log,
    }),

    /** A run that Temporal has lost goes on with its latest recorded turn, whose calls have no results yet. */
    startAgain: (run: StartableRun & { turnCount: number }): Promise<boolean> =>
      startFrom(run, { turn: Math.max(run.turnCount, 1) }, 'ALLOW_DUPLICATE'),

    async create(caller: Caller, body: RunRequest, claim?: Claim) {
      const made = claim?.made ? await store.findRun(caller.customerId, claim.made) : undefined;
      if (made) return { run_id: made.id, status: 'queued' as const };
      const agent = body.agent ?? null;
      if (agent !== null && !(await agentExists(caller.customerId, agent)))
        throw new Problem('not_found', `unknown agent: ${agent}`);
      const outputSchema = body.output_schema ?? null;
      const fault = outputSchema && (await findSchemaProblem(outputSchema));
      if (fault) throw new Problem('validation', [{ loc: ['body', 'output_schema'], msg: fault, type: 'json_schema' }]);
      return accept(caller, {
        agent,
        transport: body.transport,
        prompt: present(body.prompt ?? body.message),
        threadId: body.thread_id ?? null,
        channelId: body.channel_id ?? null,
        conversation: conversationOf(body.thread_id, body.channel_id),
        override: body.override ?? null,
        outputSchema,
        costBudgetUsd: body.override?.cost_budget_usd,
        claim,
      });
    },

    async retry(caller: Caller, runId: string) {
      const { agent, transport, prompt, override, outputSchema } = await findLive(caller, runId);
      return accept(caller, {
        agent,
        transport,
        prompt,
        override,
        outputSchema,
        // A limit on what the first run could spend is one on its repetition too.
        costBudgetUsd: override?.cost_budget_usd as string | undefined,
        threadId: null,
        channelId: null,
        conversation: null,
      });
    },

    /** Answers when the run has ended, after two seconds at most. */
    async cancel(caller: Caller, runId: string) {
      const run = await findLive(caller, runId);
      if (isTerminal(run.status)) throw new Problem('run_not_in_flight');
      const handle = temporal.client.workflow.getHandle(runWorkflowId(runId));
      await withinDeadline(temporal, async () => {
        // Accepted but not started yet: starting it is what gives it a workflow that can be cancelled.
        if (run.status === 'queued') await start({ ...run, workspaceId: caller.workspaceId });
        await handle.cancel();
      }).catch((error: unknown) => {
        if (!isWorkflowGone(error)) throw error;
      });
      await orAfter(CANCEL_PATIENCE_MS, handle.result().then(ignore, ignore), ignore);
      // As a rule the workflow records the end. Where no worker is there to do it, the run is over all the same:
      // whatever still comes of it finds it ended.
      const { status, after } = found(await store.endRun(runId, { status: 'cancelled' }));
      if (after.nextRunId) {
        await giveGoAhead(after.nextRunId).catch((err: unknown) =>
          log.warn({ err }, 'the next run of a conversation could not be told to start; it will find out by itself'),
        );
      }
      if (status !== 'cancelled') throw new Problem('run_not_in_flight');
      return { run_id: runId, status };
    },

    async list({ customerId }: Caller, { limit, offset, ...filter }: RunFilter & { limit: number; offset: number }) {
      const { rows, total } = await store.listRuns(customerId, filter, { limit, offset });
      return { data: rows, meta: { total, limit, offset } };
    },

    async events({ customerId }: Caller, runId: string, limit: number) {
      const data = await store.listEvents(customerId, runId, limit);
      // A run has at least one event, unless its events are older than they are kept.
      if (data.length === 0) found(await store.findRun(customerId, runId));
      return { data, meta: { limit, run_id: runId } };
    },

    async detail(caller: Caller, runId: string) {
      const run = await findLive(caller, runId);
      return {
        run_id: run.id,
        customer_id: run.customerId,
        transport: run.transport,
        agent: run.agent,
        parent_run_id: run.parentRunId,
        status: run.status,
        created_at: run.createdAt,
        started_at: run.startedAt,
        completed_at: run.completedAt,
        output: run.output,
        error: run.error,
        waits_for: isTerminal(run.status) ? null : await store.findWait(caller.customerId, run.id),
        sample: run.modelProvider === 'sample',
      };
    },

    stats: ({ customerId }: Caller) => store.statsOfLastDay(customerId),

    async costs({ customerId }: Caller, window: CostWindow) {
      const { total, agents, tiers, models } = await store.costRows(customerId, COST_WINDOWS[window]);
      return {
        data: agents.map(({ agent, cost_usd, saved_usd, run_count }) => ({
          agent,
          total_cost_usd: cost_usd,
          saved_usd,
          run_count,
          tiers: tiers
            .filter((row) => row.agent === agent)
            .map(({ tier, cost_usd, saved_usd, run_count }) => ({
              tier,
              cost_usd,
              saved_usd,
              run_count,
              models: models.filter((row) => row.agent === agent && row.tier === tier),
            })),
        })),
        meta: {
          window,
          window_hours: COST_WINDOWS[window],
          since: total.since,
          total_cost_usd: total.cost_usd,
          saved_usd: total.saved_usd,
          run_count: total.run_count,
          agent_count: agents.length,
        },
      };
    },

    context: async (caller: Caller, runId: string) => contextReports.summarize(await loadInConversation(caller, runId)),

    contextContent: async (caller: Caller, runId: string, beforeByte: number | undefined) =>
      contextReports.page(await loadInConversation(caller, runId), beforeByte),

    summarizeAgent: (customerId: string, agent: string) => store.summarizeAgent(customerId, agent),
  };
};
