/**
 * The people of a workspace, during a proof: they answer gates, half of them through the API and half with a signal, and
 * decide about projects that a crash paused. Of a step that posts they look whether the post arrived, whatever the step
 * failed by: where it did not they have it sent, and where it did they give the project up, for sending it again is what
 * must not be.
 */
import { resolveGateSignal } from '../../workflows/project/messages.ts';
import type { Temporal } from '../../src/platform/temporal/client.ts';
import { projectWorkflowId } from '../../src/resources/projects/model.ts';
import type { Sink } from './sink.ts';
import type { Gate, Waits } from './waits.ts';
import type { Reply, Request } from './workload.ts';

export interface Person {
  /** Answers what waits now. Never rejects: what a fault keeps from being answered waits for the next look. */
  look(): Promise<void>;
  /** Decisions that were made, by kind. */
  did: { gatesByApi: number; gatesBySignal: number; retried: number; abandoned: number };
}

export interface PersonOptions {
  waits: Waits;
  sink: Pick<Sink, 'posts'>;
  random: () => number;
  temporal: Pick<Temporal, 'client'>;
  call(request: Request): Promise<Reply>;
}

export function createPerson({ waits, sink, random, temporal, call }: PersonOptions): Person {
  const did = { gatesByApi: 0, gatesBySignal: 0, retried: 0, abandoned: 0 };
  /** Whoever lost to another answer, or to a repetition of its own, has lost: 409. */
  const isDecided = (status: number): boolean => status === 200 || status === 409;
  const command = (projectId: string, path: string, body?: object) =>
    call({ surface: 'cp', method: 'POST', path: `/v1/projects/${projectId}/${path}`, body, isGood: isDecided });

  async function answer({ id, projectId }: Gate): Promise<void> {
    if (random() < 0.5) {
      const { status } = await command(projectId, `subtasks/${id}/resolve-gate`, { decision: 'approved' });
      if (status === 200) did.gatesByApi += 1;
      return;
    }
    const said = { subtask_id: id, decision: 'approved', decided_by: 'person' } as const;
    await temporal.client.withDeadline(Date.now() + 5_000, () =>
      temporal.client.workflow.getHandle(projectWorkflowId(projectId)).signal(resolveGateSignal, said),
    );
    did.gatesBySignal += 1;
  }

  async function decide(projectId: string): Promise<void> {
    for (const { id, stepSlug, title } of await waits.failedSteps(projectId)) {
      if (sink.posts.has(`${title}-${stepSlug}`)) {
        const { status } = await command(projectId, 'abandon');
        if (status === 200) did.abandoned += 1;
        return;
      }
      const { status } = await command(projectId, `subtasks/${id}/retry`);
      if (status === 200) did.retried += 1;
    }
    await command(projectId, 'resume');
  }

  async function lookOnce(): Promise<void> {
    const [gates, paused] = await Promise.all([waits.gates(), waits.pausedProjects()]);
    await Promise.allSettled([...gates.map(answer), ...paused.map(decide)]);
  }

  return { did, look: () => lookOnce().catch(() => {}) };
}
