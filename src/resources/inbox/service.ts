/**
 * Lists what waits for somebody outside, and takes the answers. An answer is carried out by the resource that it is
 * about, which also checks that nothing has changed since it was seen. The inbox only checks that the wait takes such
 * an answer at all.
 */
import { isService } from '../../platform/core/actor.ts';
import { Problem, type ProblemCode } from '../../platform/core/problem.ts';
import { can } from '../../platform/core/rights.ts';
import { found } from '../../platform/db/client.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import type { Claim } from '../../platform/http/once-only.ts';
import type { Decision, PlanDecision, Seen, Way } from '../projects/model.ts';
import type { StoppingLimit } from '../projects/stops/contract.ts';
import { BUDGET_BREACH, limitOfStop, mayRaiseCaps, type RAISERS, type Stop } from '../projects/stops/model.ts';
import type { ProjectStore } from '../projects/store/index.ts';
import { alreadyAnswered, changedSince } from '../projects/store/waits.ts';
import type { LostEffectSettling } from '../runs/store/lost-effects.ts';
import { choicesOf } from './choices.ts';
import type { AnswerRequest, Delegation, InboxQuery, SpendingNoticeRow, WaitDetailRow, WaitRow } from './contract.ts';
import type { WaitDetailStore } from './detail-store.ts';
import { REMINDED_FOR_MS } from './model.ts';
import type { InboxStore } from './store.ts';

export type InboxService = ReturnType<typeof createInboxService>;

interface Commands {
  answerGate(
    caller: Caller,
    address: { project_id: string; subtask_id: string },
    answer: { decision: Decision; comment: string | null; seen: Seen },
    claim: Claim | undefined,
  ): Promise<void>;
  resolveEditPlan(
    caller: Caller,
    address: { project_id: string; task_id: string },
    body: { decision: PlanDecision; comment: string | null; revised_plan?: undefined },
    claim: Claim | undefined,
    seen: Seen,
  ): Promise<unknown>;
  resume(
    caller: Caller,
    projectId: string,
    how: { seen: Seen; retryFailed?: boolean; raiseByUsd?: string },
    claim: Claim | undefined,
  ): Promise<unknown>;
  abandon(caller: Caller, projectId: string, seen: Seen, claim: Claim | undefined): Promise<unknown>;
}

interface Pages {
  /** @throws Problem not_found, already_submitted */
  answer(
    customerId: string,
    pageId: string,
    data: unknown,
    by: { name: string; via: Way },
    claim: Claim | undefined,
  ): Promise<void>;
}

/** What calls of single runs wait for. */
interface Effects {
  /** @throws Problem not_found */
  settle(settling: LostEffectSettling, claim: Claim | undefined): Promise<void>;
  /** Writes into a run's timeline that somebody asked for an answer. */
  noteReminder(reminder: { runId: string; waitId: string; nth: number; by: string }): Promise<void>;
}

export interface InboxDependencies {
  store: InboxStore;
  details: WaitDetailStore;
  commands: Commands;
  pages: Pages;
  effects: Effects;
  projects: Pick<ProjectStore, 'delegateGate' | 'remindOfWait' | 'loadStops'>;
  /** What was told of spending and is still so. */
  spendingOf: (customerId: string) => Promise<SpendingNoticeRow[]>;
}

/** A wait, with the id of what it is about. */
type StoredWait = WaitRow & { subject: string };

const LOST = new Set<ProblemCode>(['gate_not_waiting', 'project_not_paused', 'already_submitted', 'not_found']);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const readerOf = (caller: Caller) => ({
  customerId: caller.customerId,
  actor: caller.actor,
  mayChange: can(caller, 'workspace.change'),
});

export const createInboxService = ({
  store,
  details,
  commands,
  pages,
  effects,
  projects,
  spendingOf,
}: InboxDependencies) => {
  const find = async (caller: Caller, waitId: string): Promise<StoredWait> =>
    found(UUID.test(waitId) ? await store.find(readerOf(caller), waitId) : undefined);

  /** What stops the project of a wait, while it does. */
  const stopsOf = async ({ customerId }: Caller, { status, pause_reason, project_id: id }: WaitRow): Promise<Stop[]> =>
    status === 'open' && pause_reason === BUDGET_BREACH.pauseReason && id !== null
      ? projects.loadStops({ id, customerId })
      : [];

  async function describe(caller: Caller, wait: WaitRow): Promise<WaitDetailRow> {
    const { customerId } = caller;
    const { kind } = wait;
    const stops = await stopsOf(caller, wait);
    const hasCaps = mayRaiseCaps(caller);
    const { gateConfig, callArguments, tool, instruction, costOfRest, costOfPhase, ...shown } = await details.load(
      customerId,
      wait,
    );
    const texts = (name: string): string[] | null => {
      const value = callArguments?.[name];
      return Array.isArray(value) ? value.map(String) : null;
    };
    // What the call of a question asks; the call of a lost effect is itself what is asked about.
    const isLost = kind === 'lost_effect';
    const question = !isLost && typeof callArguments?.['question'] === 'string' ? callArguments['question'] : null;
    const prompt = typeof gateConfig?.['prompt'] === 'string' ? gateConfig['prompt'] : null;
    return {
      ...wait,
      ...shown,
      prompt: prompt ?? question ?? instruction,
      choices: choicesOf(wait, gateConfig, { ofRest: costOfRest, ofPhase: costOfPhase }, { stops, hasCaps }),
      limits: stops.map((stop) =>
        wireStop(stop, { members: can(caller, 'workspace.change'), admins: hasCaps, payment: false }),
      ),
      on_timeout: onTimeout(wait, gateConfig),
      question: tool !== null && !isLost ? { question: question ?? wait.title, options: texts('options'), tool } : null,
      awaits: kind === 'webhook_gate' ? wait.title : null,
      effect: tool !== null && isLost ? { tool, arguments: callArguments } : null,
    };
  }

  /**
   * @param revision is the one of the wait that was seen; where it is left out, any will do
   * @throws Problem already_answered, changed_since
   */
  async function requireOpen(caller: Caller, wait: WaitRow, revision = wait.revision): Promise<void> {
    if (wait.answer !== null) {
      const { answer, settled_by: by, settled_via: via, settled_at: at, comment } = wait;
      throw alreadyAnswered({ answer, by: by!, via: via!, at: new Date(at!).toISOString(), comment });
    }
    if (wait.status === 'settled') {
      const now = await store.findOpenOfSameSubject(caller.customerId, wait.id);
      throw changedSince(now?.id ?? null, now?.revision ?? null);
    }
    if (wait.revision !== revision) throw changedSince(wait.id, wait.revision);
  }

  async function carryOut(
    caller: Caller,
    wait: StoredWait,
    body: AnswerRequest,
    { via, claim }: { via: Way; claim: Claim | undefined },
  ): Promise<void> {
    const { answer, comment } = body;
    const seen: Seen = { waitId: wait.id, revision: body.revision, via };
    const gate = { project_id: wait.project_id!, subtask_id: wait.subtask_id! };
    const plan = (decision: PlanDecision) =>
      commands.resolveEditPlan(
        caller,
        { project_id: gate.project_id, task_id: wait.task_id! },
        { decision, comment },
        claim,
        seen,
      );
    switch (answer) {
      case 'approve':
        return commands.answerGate(caller, gate, { decision: 'approved', comment, seen }, claim);
      case 'reject':
        if (wait.kind === 'plan') return void (await plan('rejected'));
        return commands.answerGate(caller, gate, { decision: 'rejected', comment, seen }, claim);
      case 'apply':
        return void (await plan('approved'));
      case 'request_changes':
        return void (await plan('request_changes'));
      case 'submit':
        return pages.answer(caller.customerId, wait.subject, body.data, { name: caller.actor, via }, claim);
      case 'resume':
        return void (await commands.resume(caller, gate.project_id, { seen }, claim));
      case 'retry':
        return void (await commands.resume(caller, gate.project_id, { seen, retryFailed: true }, claim));
      case 'raise_budget':
        return void (await commands.resume(caller, gate.project_id, { seen, raiseByUsd: body.raise_by_usd! }, claim));
      case 'abandon':
        return void (await commands.abandon(caller, gate.project_id, seen, claim));
      case 'done':
      case 'not_done': {
        const { customerId, actor: by } = caller;
        const call = await details.call(customerId, wait);
        return effects.settle({ ...call, customerId, answer, comment, by, seen }, claim);
      }
    }
  }

  /** Tells whether an earlier try of the same request was carried out, whose process died before it could answer. */
  const isDone = async ({ customerId }: Caller, wait: StoredWait, claim: Claim | undefined): Promise<boolean> =>
    claim !== undefined &&
    claim.isRepeated &&
    (claim.made === wait.subject || (await store.isCarriedOut(customerId, wait.id, claim.token)));

  return {
    async list(caller: Caller, query: InboxQuery) {
      const { data, nextCursor } = await store.list(readerOf(caller), query);
      const [counts, spending] = await Promise.all([store.count(caller.customerId), spendingOf(caller.customerId)]);
      const sum = (of: 'open' | 'overdue') => counts.reduce((total, each) => total + each[of], 0);
      const by_kind = counts.map(({ kind, open }) => ({ kind, open }));
      return { data, meta: { next_cursor: nextCursor, open: sum('open'), overdue: sum('overdue'), by_kind, spending } };
    },

    get: async (caller: Caller, waitId: string) => describe(caller, await find(caller, waitId)),

    /**
     * @throws Problem not_found, bad_request, already_answered, changed_since, project_ended, nothing_to_raise,
     * admin_required, insufficient_credit, runtime_unreachable
     */
    async answer(caller: Caller, waitId: string, body: AnswerRequest, via: Way = 'inbox', claim?: Claim) {
      const wait = await find(caller, waitId);
      try {
        await requireOpen(caller, wait, body.revision);
        requireFitting(wait, body);
        const isForService = isService(caller.actor);
        if (isForService && !(await store.mayKeysAnswer(caller.customerId, waitId))) throw notForKeys();
        await carryOut(caller, wait, body, { via: isForService ? 'api_key' : via, claim });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (await isDone(caller, wait, claim)) return describe(caller, await find(caller, waitId));
        // Somebody may have answered first by a way that knows nothing of waits. The caller is then told who that was.
        if (LOST.has(error.code)) await requireOpen(caller, await find(caller, waitId), body.revision);
        throw error;
      }
      return describe(caller, await find(caller, waitId));
    },

    /** @throws Problem not_found, already_answered, changed_since, reminded_lately */
    async remind(caller: Caller, waitId: string) {
      const { id, project_id: projectId, run_id: runId } = await find(caller, waitId);
      const { customerId, actor: by } = caller;
      const reminder = { customerId, waitId: id, projectId, by, atLeastMs: REMINDED_FOR_MS };
      const nth = await projects.remindOfWait(reminder);
      // Apart from the above, which holds the wait: whoever ends a run holds the run before its waits.
      if (nth !== undefined && runId !== null && projectId === null) {
        await effects.noteReminder({ runId, waitId: id, nth, by });
      }
      const wait = await find(caller, waitId);
      if (nth === undefined) {
        await requireOpen(caller, wait);
        throw new Problem('reminded_lately', 'reminded of a moment ago: that is possible every ten minutes');
      }
      return describe(caller, wait);
    },

    /** @throws Problem not_found, bad_request, already_answered, changed_since, not_an_approver, four_eyes */
    async delegate(caller: Caller, waitId: string, { to, until }: Delegation) {
      const wait = await find(caller, waitId);
      await requireOpen(caller, wait);
      const { project_id: projectId, subtask_id: subtaskId } = wait;
      if (projectId === null || subtaskId === null) {
        throw new Problem('bad_request', 'everybody in the workspace may answer this one already');
      }
      const { customerId, actor: delegator } = caller;
      if (to === delegator.toLowerCase()) throw new Problem('bad_request', 'to: name somebody else than yourself');
      const aheadMs = Date.parse(until) - Date.now();
      if (aheadMs <= 0 || aheadMs > MAX_DELEGATION_MS) {
        throw new Problem('bad_request', 'until must be in the future, at most a year');
      }
      const delegation = { customerId, projectId, subtaskId, delegator, standIn: to, until: new Date(until) };
      await projects.delegateGate(delegation).catch(async (error: unknown) => {
        // The wait was answered meanwhile, and the caller is told by whom.
        if (error instanceof Problem && LOST.has(error.code)) await requireOpen(caller, await find(caller, waitId));
        throw error;
      });
      return describe(caller, await find(caller, waitId));
    },
  };
};

const MAX_DELEGATION_MS = 366 * 24 * 3_600_000;

const notForKeys = () =>
  new Problem('not_an_approver', {
    code: 'not_an_approver',
    message: 'a person has to answer this: API keys do where the approvers of a gate include them',
    approvers: null,
    escalate_to: null,
  });

/** @param may which of those who raise limits the caller is among */
function wireStop(stop: Stop, may: Readonly<Record<(typeof RAISERS)[number], boolean>>): StoppingLimit {
  const { name, kind, of, period, raisedBy } = limitOfStop(stop);
  const { limitUsd, spentUsd, heldUsd, freeUsd, needsUsd } = stop;
  const amounts = {
    limit_usd: limitUsd,
    spent_usd: spentUsd,
    held_usd: heldUsd,
    free_usd: freeUsd,
    needs_usd: needsUsd,
  };
  return { name, kind, of, period, ...amounts, raised_by: raisedBy, may_raise: may[raisedBy] };
}

const WHEN_LATE = {
  reject: 'It is rejected.',
  approve: 'It is approved.',
  pause: 'The project pauses.',
  remind: 'Its approvers are reminded.',
} as const;

function onTimeout({ kind, due_at, expires_at }: WaitRow, config: Record<string, unknown> | null): string | null {
  if (kind === 'question') return expires_at === null ? null : 'The run is told that nobody answered, and goes on.';
  if (due_at === null) return null;
  const named = config?.['on_timeout'] as keyof typeof WHEN_LATE | undefined;
  return WHEN_LATE[named ?? (kind === 'webhook_gate' ? 'reject' : 'remind')];
}

/** @throws Problem bad_request */
function requireFitting({ answers }: WaitRow, { answer, data, raise_by_usd, comment }: AnswerRequest): void {
  const refuse = (what: string) => new Problem('bad_request', what);
  if (!answers.includes(answer)) throw refuse(`answer: this wait takes ${answers.join(', ') || 'none'}`);
  if ((answer === 'submit') !== (data !== undefined))
    throw refuse('data goes with the answer submit, and only with it');
  if ((answer === 'raise_budget') !== (raise_by_usd !== undefined)) {
    throw refuse('raise_by_usd goes with the answer raise_budget, and only with it');
  }
  if (answer === 'request_changes' && comment === null) throw refuse('comment: say what the plan is to do differently');
}
