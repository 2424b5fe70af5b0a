/** Every branch of a project and of its phases, played with the real service for `record.ts`. */
import { sql } from 'drizzle-orm';
import { itemAt, present } from '../../src/platform/core/present.ts';
import { phaseWorkflowId, projectWorkflowId } from '../../src/resources/projects/model.ts';
import type { PhaseSpec, StepSpec } from '../../src/resources/templates/model.ts';
import { PROJECT, recheckSignal, type ProjectInput } from '../../workflows/project/messages.ts';
import type { project } from '../../workflows/project/workflow.ts';
import {
  agentStep,
  gateStep,
  makeTemplate,
  phaseSpec,
  reviewStep,
  tasksOf,
  untilProject,
  untilStep,
} from '../support/fixtures/projects.ts';
import { eventually, type Tenant, type TestService } from '../support/service/service.ts';

export interface ProjectScene {
  service: TestService;
  tenant: Tenant;
  /** Whatever people say has it, and no history may. */
  canary: string;
  keep(name: string, workflowId: string, firstExecution?: string): Promise<void>;
}

const ANSWER = 'resolve-gate';

export function createProjectScenes({ service, tenant, canary, keep }: ProjectScene) {
  const { client } = service.runtime.temporal;
  const step = (more: Partial<StepSpec> = {}) => agentStep('write', { instructions: `${canary} Write.`, ...more });
  const only = (...steps: StepSpec[]) => [phaseSpec('text', steps)];
  const gate = (config = {}, kind: StepSpec['gate_kind'] = 'human') => gateStep('gate', kind, config);
  const until = (id: string, status: string) => untilProject(tenant, id, status);

  async function post(id: string, path: string, body?: unknown) {
    const answer = await tenant.cp('POST', `/v1/projects/${id}/${path}`, body);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async function begin(name: string, phases: PhaseSpec[], more: object = {}): Promise<string> {
    await makeTemplate(tenant, name, phases);
    const body = { workflow_slug: name, title: name, brief: `${canary} Tell the story of bread.`, ...more };
    const { body: made } = await tenant.cp('POST', '/v1/projects', body);
    return made.id;
  }

  const atGate = (id: string, phase = 'text') => untilStep(tenant, id, phase, 'gate', 'blocked');
  const decide = async (id: string, decision: string, phase?: string) =>
    post(id, `subtasks/${(await atGate(id, phase)).id}/${ANSWER}`, { decision, comment: `${canary} said` });

  const keepProject = (name: string, id: string) => keep(`project-${name}`, projectWorkflowId(id));
  const keepPhase = (name: string, id: string, phase = 'text', start = 1) =>
    keep(`phase-${name}`, phaseWorkflowId(id, phase, start));
  async function keepBoth(name: string, id: string) {
    await keepProject(name, id);
    await keepPhase(name, id);
  }
  async function abandoned(name: string, id: string) {
    await post(id, 'abandon');
    await keepPhase(name, id);
  }

  async function plain(): Promise<void> {
    const simple = await begin('completed', only(step()));
    await until(simple, 'completed');
    await keepBoth('completed', simple);

    const parallel = await begin('parallel', [
      phaseSpec('left', [step()]),
      phaseSpec('right', [step(), agentStep('beside', { depends_on: [] })]),
      phaseSpec('join', [step()], { depends_on: ['left', 'right'] }),
    ]);
    await until(parallel, 'completed');
    await keepProject('parallel-phases', parallel);
    await keepPhase('parallel-steps', parallel, 'right');
  }

  async function waiting(): Promise<void> {
    const slow = step({ instructions: `${canary} [[sleep:500]]` });
    const paused = await begin('paused', only(slow, agentStep('then')));
    await untilStep(tenant, paused, 'text', 'write', 'running');
    await post(paused, 'pause');
    await untilStep(tenant, paused, 'text', 'write', 'succeeded');
    await post(paused, 'resume');
    await until(paused, 'completed');
    await keepBoth('paused-and-resumed', paused);

    const stepped = await begin('stepped', only(slow, agentStep('then'), gate()));
    await untilStep(tenant, stepped, 'text', 'write', 'running');
    await post(stepped, 'pause');
    await untilStep(tenant, stepped, 'text', 'write', 'succeeded');
    await post(stepped, 'run-step');
    await post(stepped, 'run-step');
    await decide(stepped, 'approved');
    await post(stepped, 'resume');
    await until(stepped, 'completed');
    await keepBoth('run-step', stepped);

    const poor = await begin('poor', only(step()), { cost_budget_usd: '0.00000001' });
    await until(poor, 'paused');
    await tenant.cp('PATCH', `/v1/projects/${poor}`, { cost_budget_usd: null });
    await post(poor, 'resume');
    await until(poor, 'completed');
    await keepBoth('budget-breached', poor);

    const idle = await begin('idle', only(step(), gate()));
    await atGate(idle);
    // Housekeeping asks it to look, and its record has nothing new.
    await client.workflow.getHandle(projectWorkflowId(idle)).signal(recheckSignal);
    await decide(idle, 'approved');
    await until(idle, 'completed');
    await keepBoth('rechecked', idle);
  }

  async function gates(): Promise<void> {
    const human = await begin('human', only(step(), gate({ on_reject: 'rework' })));
    await decide(human, 'rejected');
    await untilStep(tenant, human, 'text', 'gate', 'pending');
    await decide(human, 'approved');
    await until(human, 'completed');
    await keepBoth('gate-reworked', human);

    const rejected = await begin('rejected', only(step(), gate()));
    await decide(rejected, 'rejected');
    await until(rejected, 'paused');
    await untilTask(rejected, 'failed');
    await post(rejected, `subtasks/${(await untilStep(tenant, rejected, 'text', 'gate', 'failed')).id}/retry`);
    await post(rejected, 'resume');
    await decide(rejected, 'approved');
    await until(rejected, 'completed');
    await keepBoth('gate-rejected-and-retried', rejected);

    const webhook = await begin('webhook', only(step(), gate({}, 'webhook')));
    const { id: subtask_id } = await atGate(webhook);
    await client.workflow
      .getHandle(projectWorkflowId(webhook))
      .signal('resolveGate', { subtask_id, decision: 'approved', decided_by: 'a system' });
    await until(webhook, 'completed');
    await keepBoth('gate-signalled', webhook);

    const expired = await begin('expired', only(step(), gate({ expires_in_s: 1 }, 'webhook')));
    await until(expired, 'paused');
    await abandoned('gate-expired', expired);

    const scheduled = await begin('scheduled', only(gate({ delay_s: 1 }, 'schedule')));
    await until(scheduled, 'completed');
    await keepPhase('gate-scheduled', scheduled);

    const first = await begin('first', only(gate()));
    await atGate(first);
    const second = await begin('second', only(gate({ project_id: first }, 'pipeline_dep')));
    await atGate(second);
    await decide(first, 'approved');
    await until(second, 'completed');
    await keepProject('waited-for', first);
    await keepBoth('gate-of-other-project', second);
    const third = await begin('third', only(gate({ project_id: first }, 'pipeline_dep')));
    await until(third, 'completed');
    await keepPhase('gate-passed', third);

    const wrong = await begin('wrong', only(step(), gate({ project_id: 'nobody-000000' }, 'pipeline_dep')));
    await until(wrong, 'paused');
    await abandoned('gate-misconfigured', wrong);
  }

  /** What comes to a gate of people with time, and approvals that do not suffice yet. */
  async function policies(): Promise<void> {
    const timed = { reminders_s: [1], due_in_s: 2, escalate_to: { roles: ['owner'] }, on_timeout: 'approve' };
    const late = await begin('gate-late', only(step(), gate(timed)));
    await until(late, 'completed');
    await keepPhase('gate-timed-out', late);

    const early = await begin('gate-early', only(step(), gate({ quorum: 2, reminders_s: [1], due_in_s: 3_600 })));
    await decide(early, 'approved');
    await untilEvent(early, 'gate_reminded');
    await decide(early, 'rejected');
    await until(early, 'paused');
    await abandoned('gate-reminded', early);
    await keepProject('gate-voted', early);
  }

  const untilEvent = (id: string, topic: string): Promise<void> =>
    eventually(async () => {
      const { body } = await tenant.cp('GET', `/v1/projects/${id}/events`);
      if (!body.data.some((event: { topic: string }) => event.topic === topic)) throw new Error(`no ${topic}`);
    });

  const askedOf = async (id: string): Promise<object[]> => {
    const { body } = await tenant.cp('GET', `/v1/projects/${id}/events`);
    return body.data.filter((event: { topic: string }) => event.topic === 'gate_awaiting');
  };

  const untilTask = (id: string, status: string): Promise<void> =>
    eventually(async () => {
      const task = itemAt(await tasksOf(tenant, id), 0);
      if (task.status !== status) throw new Error(`its phase is ${task.status}`);
    });

  async function failures(): Promise<void> {
    const scenes: Record<string, StepSpec[]> = {
      'review-failed': [
        step({ max_attempts: 2 }),
        reviewStep('check', { instructions: `Review. [[reject: ${canary} short]]` }),
      ],
      'schema-repaired': [step({ max_attempts: 2, output_schema: { type: 'integer', minimum: 5, maximum: 3 } })],
      'step-timed-out': [step({ max_attempts: 1, timeout_s: 1, instructions: '[[sleep:60000]]' })],
      'step-retried': [step({ max_attempts: 2, instructions: `${canary} [[fail-status:400]]` })],
      'action-failed': [
        step(),
        { step_slug: 'send', kind: 'action', role: 'utility', assignee: 'http_post', max_attempts: 1 },
      ],
    };
    for (const [name, steps] of Object.entries(scenes)) {
      const id = await begin(name, only(...steps));
      await until(id, 'paused');
      if (name === 'step-retried') {
        await untilTask(id, 'failed');
        const { id: stepId } = await untilStep(tenant, id, 'text', 'write', 'failed');
        await post(id, `subtasks/${stepId}/retry?addendum_brief=${canary}`);
        await post(id, 'resume');
        await until(id, 'paused');
      }
      await untilTask(id, 'failed');
      await abandoned(name, id);
      if (name === 'step-retried') await keepProject(name, id);
    }
    const busy = await begin('busy', only(step({ instructions: '[[sleep:60000]]' })));
    await untilStep(tenant, busy, 'text', 'write', 'running');
    await abandoned('abandoned-in-flight', busy);
    await keepProject('abandoned-in-flight', busy);
  }

  async function goingBack(): Promise<void> {
    const two = (name: string) =>
      begin(name, [phaseSpec('text', [step()]), phaseSpec('second', [step()], { depends_on: ['text'] })]);
    const id = await two('back');
    await until(id, 'completed');
    for (const cascade of ['lazy', 'strict']) {
      await post(id, 'phases/text/retrigger', { cascade, addendum_brief: `${canary} again` });
      await until(id, 'completed');
      await keepProject(`retriggered-${cascade}`, id);
    }
    await post(id, 'phases/text/revert-artifact', { target_version: 1, cascade: 'strict', reason: canary });
    await until(id, 'completed');
    await keepProject('reverted', id);

    const gated = await begin('under-way', [
      phaseSpec('text', [step()]),
      phaseSpec('second', [step(), gate()], { depends_on: ['text'] }),
    ]);
    await atGate(gated, 'second');
    await post(gated, 'phases/text/retrigger', { cascade: 'strict' });
    await decide(gated, 'approved', 'second');
    await untilStep(tenant, gated, 'second', 'gate', 'pending');
    await decide(gated, 'approved', 'second');
    await until(gated, 'completed');
    await keepProject('retriggered-under-way', gated);
    await keepPhase('to-run-again', gated, 'second');
  }

  async function editSessions(): Promise<void> {
    const id = await begin('edited', only(step()));
    await until(id, 'completed');
    let session = 0;
    async function edit(
      name: string,
      ...decisions: ({ decision: string; isAgain?: boolean } & Record<string, unknown>)[]
    ) {
      const { task_id } = await post(id, 'edit-sessions', { instruction: `${canary} Shorter` });
      const slug = `edit-session-${++session}`;
      for (const { isAgain, ...decision } of decisions) {
        await untilStep(tenant, id, slug, 'approve_plan', 'blocked');
        await post(id, `edit-sessions/${task_id}/approve`, { comment: canary, ...decision });
        if (isAgain) await untilStep(tenant, id, slug, 'approve_plan', 'pending');
      }
      await until(id, 'completed');
      await keepProject(`edit-${name}`, id);
      await keepPhase(`edit-${name}`, id, slug);
    }
    const revised_plan = {
      summary: canary,
      actions: [{ kind: 'instruct', phase_slug: 'text', instructions: canary, rationale: canary }],
    };
    await edit('approved', { decision: 'edit_plan', revised_plan });
    await edit('rejected', { decision: 'rejected' });
    await edit('changes-requested', { decision: 'request_changes', isAgain: true }, { decision: 'approved' });
  }

  async function continued(): Promise<void> {
    const id = await begin('continued', [
      phaseSpec('text', [step(), gate({ on_reject: 'rework' })]),
      phaseSpec('beside', [gate()]),
    ]);
    const workflowId = projectWorkflowId(id);
    const { taskQueue } = await client.workflow.getHandle(workflowId).describe();
    await atGate(id);
    await atGate(id, 'beside');
    // An operator's hand; whatever was under way is recovered.
    await client.workflow.getHandle(workflowId).terminate('to be started with another input');
    const input: ProjectInput = {
      ...present(await service.services.stores.projects.loadBoard(id)),
      limits: { maxTurns: 50, maxTokens: 1_000_000 },
      split: false,
      continueAfterEvents: 45,
    };
    const handle = await client.workflow.start<typeof project>(PROJECT, { workflowId, taskQueue, args: [input] });
    for (let round = 0; round < 3; round++) {
      await post(id, 'pause');
      await post(id, 'resume');
      const asked = (await askedOf(id)).length;
      await decide(id, 'rejected');
      await eventually(async () => {
        if ((await askedOf(id)).length === asked) throw new Error('it is not asked again yet');
      });
      await atGate(id);
    }
    await decide(id, 'approved');
    await decide(id, 'approved', 'beside');
    await until(id, 'completed');
    await keep('project-recovered-before-continuing', workflowId, handle.firstExecutionRunId);
    await keepProject('after-continuing', id);
    const task = itemAt(
      await service.runtime.db.rows<{ iteration: number }>(sql`
      select iteration from tasks where project_id = ${id} and phase_slug = 'text'`),
      0,
    );
    const phaseId = phaseWorkflowId(id, 'text', task.iteration);
    const { runId } = await client.workflow.getHandle(phaseId).describe();
    const last = await client.workflow.getHandle(phaseId, runId).fetchHistory();
    const { firstExecutionRunId } = last.events![0]!.workflowExecutionStartedEventAttributes!;
    await keep('phase-before-continuing', phaseId, present(firstExecutionRunId));
    await keep('phase-after-continuing', phaseId);
    await keepPhase('detached', id, 'beside', 2);
    await keepPhase('orphaned', id, 'beside', 1);

    const dead = await begin('dead', only(step(), gate()));
    await atGate(dead);
    await client.workflow.getHandle(phaseWorkflowId(dead, 'text', 1)).terminate('by an operator');
    await untilStep(tenant, dead, 'text', 'gate', 'pending').catch(() => {});
    await decide(dead, 'approved');
    await until(dead, 'completed');
    await keepProject('phase-terminated', dead);
  }

  return {
    policies,
    async all(): Promise<void> {
      for (const play of [plain, waiting, gates, policies, failures, goingBack, editSessions, continued]) await play();
    },
    async onSplitQueues(): Promise<void> {
      const join: StepSpec = { step_slug: 'join', kind: 'action', role: 'assembler', assignee: 'assemble_markdown' };
      const id = await begin('split', only(step(), join));
      await until(id, 'completed');
      await keepBoth('on-split-queues', id);
    },
  };
}
