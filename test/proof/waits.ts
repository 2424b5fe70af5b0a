/**
 * What waits for the people of a workspace, and how much is under way: looked up in the database, past every proxy, or,
 * where the service alone has its database, over its API.
 */
import { sql } from 'drizzle-orm';
import { first } from '../../src/platform/core/present.ts';
import type { Database } from '../../src/platform/db/client.ts';
import { isInFlight, type TaskStatus } from '../../src/resources/projects/model.ts';
import { TERMINAL_EVENT, type RunEventType } from '../../src/resources/runs/model.ts';
import type { Reply, Request } from './workload.ts';

export interface Gate {
  id: string;
  projectId: string;
}

export interface FailedStep {
  id: string;
  stepSlug: string;
  /** Of its project. */
  title: string;
}

/** Each rejects when it cannot be looked up now. */
export interface Waits {
  /** Those that wait for a person, in active projects. */
  gates(): Promise<Gate[]>;
  pausedProjects(): Promise<string[]>;
  failedSteps(projectId: string): Promise<FailedStep[]>;
  /** Runs that have not ended. */
  countOpen(): Promise<number>;
}

export const waitsInDatabase = (db: Database, customerId: string): Waits => ({
  gates: () =>
    db.rows<Gate>(sql`
      select s.id, s.project_id as "projectId" from subtasks s join projects p on p.id = s.project_id
      where p.customer_id = ${customerId} and s.status = 'blocked' and s.gate_kind = 'human' and p.status = 'active'`),
  async pausedProjects() {
    const rows = await db.rows<{ id: string }>(sql`
      select id from projects where customer_id = ${customerId} and status = 'paused'`);
    return rows.map(({ id }) => id);
  },
  failedSteps: (projectId) =>
    db.rows<FailedStep>(sql`
      select s.id, s.step_slug as "stepSlug", p.title
      from subtasks s join projects p on p.id = s.project_id where p.id = ${projectId} and s.status = 'failed'`),
  async countOpen() {
    const row = first(
      await db.rows<{ open: number }>(sql`
      select count(*)::int as open from runs where customer_id = ${customerId} and status in ('queued', 'running')`),
    );
    return row.open;
  },
});

interface Row {
  id: string;
  title: string;
  status: TaskStatus;
  step_slug: string;
  gate_kind: string | null;
}

const ENDS: readonly RunEventType[] = Object.values(TERMINAL_EVENT);

/** Of what is open it sees the newest 500 of each kind. */
export function waitsOverApi(call: (request: Request) => Promise<Reply>): Waits {
  async function list<T = Row>(path: string): Promise<T[]> {
    const { status, body } = await call({ surface: 'cp', method: 'GET', path });
    if (status !== 200) throw new Error(`GET ${path}: ${status}`);
    return body.data;
  }
  const projectsThatAre = (status: string) => list(`/v1/projects?status=${status}&limit=500`);
  async function stepsOf(projectId: string): Promise<Row[]> {
    const phases = await list(`/v1/projects/${projectId}/tasks`);
    const steps: Row[] = [];
    for (const { id, status } of phases) {
      if (status === 'failed' || isInFlight(status)) {
        steps.push(...(await list(`/v1/projects/${projectId}/tasks/${id}/subtasks`)));
      }
    }
    return steps;
  }
  return {
    async gates() {
      const gates: Gate[] = [];
      for (const { id: projectId } of await projectsThatAre('active')) {
        for (const { id, status, gate_kind } of await stepsOf(projectId)) {
          if (status === 'blocked' && gate_kind === 'human') gates.push({ id, projectId });
        }
      }
      return gates;
    },
    pausedProjects: async () => (await projectsThatAre('paused')).map(({ id }) => id),
    async failedSteps(projectId) {
      const { body } = await call({ surface: 'cp', method: 'GET', path: `/v1/projects/${projectId}` });
      const steps = (await stepsOf(projectId)).filter(({ status }) => status === 'failed');
      return steps.map(({ id, step_slug }) => ({ id, stepSlug: step_slug, title: body.title }));
    },
    async countOpen() {
      const runs = await list<{ last_event_type: RunEventType }>('/v1/runs?limit=500');
      return runs.filter(({ last_event_type }) => !ENDS.includes(last_event_type)).length;
    },
  };
}
