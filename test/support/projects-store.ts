/** Projects for tests of the store: rows in any state, written without the engine, and a look at what became of them. */
import { sql } from 'drizzle-orm';
import { newUuid } from '../../src/platform/core/ids.ts';
import type { Database } from '../../src/platform/db/client.ts';
import type { PauseReason, ProjectStatus, TaskStatus } from '../../src/resources/projects/model.ts';
import { artifacts, attempts, projects, subtasks, tasks } from '../../src/resources/projects/table.ts';
import { budgets } from '../../src/resources/runs/table.ts';

export interface StepFixture extends Partial<typeof subtasks.$inferInsert> {
  slug: string;
}

export interface PhaseFixture extends Partial<typeof tasks.$inferInsert> {
  slug: string;
  /** Versions of its artifact; the last is current. */
  versions?: number;
  /** One producer, when not given; each has the status of its phase unless it says another. */
  steps?: StepFixture[];
}

export interface ProjectFixture extends Partial<typeof projects.$inferInsert> {
  customerId: string;
  phases: PhaseFixture[];
}

export interface InsertedProject {
  id: string;
  customerId: string;
  taskId(slug: string): string;
  /** By `phase/step`. */
  stepId(path: string): string;
}

let made = 0;

export async function insertProject(
  db: Database,
  { customerId, phases, status = 'active', ...rest }: ProjectFixture,
): Promise<InsertedProject> {
  const id = rest.id ?? `project-${(made += 1)}`;
  const taskIds = new Map<string, string>();
  const stepIds = new Map<string, string>();
  await db.orm.insert(projects).values({
    id,
    customerId,
    status,
    title: 'A book',
    workflowSlug: 'book',
    workflowVersion: 1,
    brief: 'Write a book',
    authMode: 'session',
    startedAt: new Date(),
    pauseReason: status === 'paused' ? 'requested' : null,
    abandonedAt: status === 'abandoned' ? new Date() : null,
    completedAt: status === 'completed' ? new Date() : null,
    completions: status === 'completed' ? 1 : 0,
    ...rest,
  });
  await db.orm.insert(budgets).values({ id: `project:${id}`, customerId });
  for (const [position, { slug, versions = 0, steps = [{ slug: 'write' }], ...phase }] of phases.entries()) {
    const taskId = newUuid();
    taskIds.set(slug, taskId);
    const taskStatus = phase.status ?? 'pending';
    await db.orm.insert(tasks).values({
      id: taskId,
      projectId: id,
      customerId,
      position,
      phaseSlug: slug,
      title: slug,
      artifactStepSlug: 'write',
      iteration: taskStatus === 'pending' ? 0 : 1,
      startedAt: taskStatus === 'pending' ? null : new Date(Date.now() - 60_000),
      ...phase,
    });
    for (const [at, { slug: stepSlug, ...step }] of steps.entries()) {
      const stepId = newUuid();
      stepIds.set(`${slug}/${stepSlug}`, stepId);
      await db.orm.insert(subtasks).values({
        id: stepId,
        projectId: id,
        taskId,
        customerId,
        position: at,
        stepSlug,
        title: stepSlug,
        kind: 'agent',
        role: 'producer',
        assignee: 'writer',
        status: taskStatus,
        maxAttempts: 3,
        dependsOn: at === 0 ? [] : [steps[at - 1]!.slug],
        ...step,
      });
    }
    for (let version = 1; version <= versions; version += 1) {
      await db.orm.insert(artifacts).values({
        id: newUuid(),
        projectId: id,
        taskId,
        customerId,
        phaseSlug: slug,
        version,
        schemaSlug: slug,
        content: `${slug} ${version}`,
        producedVia: 'initial',
        superseded: version < versions,
      });
    }
  }
  const known = (ids: Map<string, string>) => (name: string) => {
    const found = ids.get(name);
    if (!found) throw new Error(`the fixture has no ${name}`);
    return found;
  };
  return { id, customerId, taskId: known(taskIds), stepId: known(stepIds) };
}

/** A waiting gate, or one in another state. */
export const gate = (slug: string, more: Partial<StepFixture> = {}): StepFixture => ({
  slug,
  kind: 'gate',
  role: 'gatekeeper',
  assignee: null,
  gateKind: 'human',
  gateConfig: {},
  status: 'blocked',
  ...more,
});

/** @returns its id */
export async function insertAttempt(
  db: Database,
  project: InsertedProject,
  path: string,
  attempt: Partial<typeof attempts.$inferInsert> = {},
): Promise<string> {
  const id = newUuid();
  const status = attempt.status ?? 'running';
  await db.orm.insert(attempts).values({
    id,
    projectId: project.id,
    customerId: project.customerId,
    taskId: project.taskId(path.split('/')[0]!),
    subtaskId: project.stepId(path),
    attemptNumber: 1,
    attemptReason: 'initial',
    status,
    dispatchKey: status === 'pending' ? null : id,
    startedAt: status === 'pending' ? null : new Date(),
    completedAt: status === 'succeeded' || status === 'failed' ? new Date() : null,
    ...attempt,
  });
  return id;
}

/** Statuses by phase and by `phase/step`. */
export async function statusesOf(db: Database, projectId: string): Promise<Record<string, TaskStatus>> {
  const rows = await db.rows<{ name: string; status: TaskStatus }>(sql`
    select phase_slug as name, status from tasks where project_id = ${projectId}
    union all
    select t.phase_slug || '/' || s.step_slug, s.status
    from subtasks s join tasks t on t.id = s.task_id where t.project_id = ${projectId}`);
  return Object.fromEntries(rows.map(({ name, status }) => [name, status]));
}

export async function projectOf(db: Database, projectId: string) {
  const [row] = await db.rows<{ status: ProjectStatus; pause_reason: PauseReason | null; [column: string]: unknown }>(
    sql`select * from projects where id = ${projectId}`,
  );
  return row!;
}

export async function stepOf(db: Database, project: InsertedProject, path: string) {
  const [row] = await db.orm
    .select()
    .from(subtasks)
    .where(sql`id = ${project.stepId(path)}::uuid`);
  return row!;
}

export async function taskOf(db: Database, project: InsertedProject, slug: string) {
  const [row] = await db.orm
    .select()
    .from(tasks)
    .where(sql`id = ${project.taskId(slug)}::uuid`);
  return row!;
}

export const attemptsOf = (db: Database, project: InsertedProject, path: string) =>
  db.orm
    .select()
    .from(attempts)
    .where(sql`subtask_id = ${project.stepId(path)}::uuid`)
    .orderBy(attempts.attemptNumber);

/** Oldest first. */
export const eventsOf = (db: Database, projectId: string) =>
  db.rows<{ topic: string; level: string; actor_kind: string; actor_id: string; payload: Record<string, unknown> }>(sql`
    select topic, level, actor_kind, actor_id, payload, task_id, subtask_id from project_events
    where project_id = ${projectId} order by id`);

export const topicsOf = async (db: Database, projectId: string): Promise<string[]> =>
  (await eventsOf(db, projectId)).map(({ topic }) => topic);

/** Everything that is recorded of a project: equal before and after what changes nothing. */
export async function recordOf(db: Database, projectId: string): Promise<unknown> {
  const [row] = await db.rows<{ record: unknown }>(sql`
    select jsonb_build_object(
      'project', (select to_jsonb(p) from projects p where p.id = ${projectId}),
      'tasks', (select jsonb_agg(t order by t.position) from tasks t where t.project_id = ${projectId}),
      'subtasks', (select jsonb_agg(s order by s.id) from subtasks s where s.project_id = ${projectId}),
      'attempts', (select jsonb_agg(a order by a.id) from attempts a where a.project_id = ${projectId}),
      'artifacts', (select jsonb_agg(a order by a.id) from artifacts a where a.project_id = ${projectId}),
      'events', (select jsonb_agg(e order by e.id) from project_events e where e.project_id = ${projectId}),
      'deliveries', (select count(*) from webhook_deliveries where event_key like ${`project:${projectId}:%`})
    ) as record`);
  return row!.record;
}
