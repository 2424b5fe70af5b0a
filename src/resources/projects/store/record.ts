/** Holds what every write on a project begins with and leaves behind: the lock on its row, and events in the feed. */
import { is, sql, SQL } from 'drizzle-orm';
import { first } from '../../../platform/core/present.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import { traceUuid } from '../../../platform/observability/spans.ts';
import { SYSTEM, type Actor, type Pause, type PauseReason, type ProjectStatus } from '../model.ts';
import { TOPICS, type EventLevel, type Topic } from '../feed/model.ts';
import { GOING_PROJECT } from './statuses.ts';

export interface LockedProject {
  id: string;
  customerId: string;
  title: string;
  status: ProjectStatus;
  pauseReason: PauseReason | null;
  /** An e-mail address, or `api-key:<id>`. */
  startedBy: string | null;
}

/** Tells a workflow that asks for leave to go on that its project is paused. */
export const pausedAnswer = ({ pauseReason }: Pick<LockedProject, 'pauseReason'>) =>
  ({ kind: 'paused', ...(pauseReason && { reason: pauseReason }) }) as const;

/** @param project gives the id of a project that is paused */
export const pausedSince = (project: SQL): SQL => sql`(
  select to_char(paused.paused_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') from projects paused
  where paused.id = ${project})`;

/** Tells the workflow of a project how it stands, and why where it is paused. */
export async function standing(
  db: Database,
  { id, status, pauseReason: reason }: Pick<LockedProject, 'id' | 'status' | 'pauseReason'>,
): Promise<{ status: ProjectStatus; pause?: Pause }> {
  if (reason === null) return { status };
  const { since } = first(await db.rows<{ since: string }>(sql`select ${pausedSince(sql`${id}`)} as since`));
  return { status, pause: { reason, since } };
}

/** Locks a project, so that everything about it is serialised until the transaction ends. @throws Problem not_found */
export async function lockProject(db: Database, projectId: string): Promise<LockedProject> {
  const [row] = await db.rows<LockedProject>(sql`
    select id, customer_id as "customerId", title, status, pause_reason as "pauseReason", started_by as "startedBy"
    from projects where id = ${projectId} for update`);
  return found(row);
}

export interface NewProjectEvent {
  topic: Topic;
  taskId?: string | null;
  subtaskId?: string | null;
  attemptNumber?: number | null;
  /** Set where the level is not the topic's own. */
  level?: EventLevel;
  /** Set where the actor is not the system. */
  actor?: Actor;
  payload?: Record<string, unknown>;
}

type ProjectRef = Pick<LockedProject, 'id' | 'customerId'>;

/**
 * Adds events to the feed. It is called inside the transaction that makes them true, so that no event is recorded
 * twice.
 */
export async function noteProjectEvents(
  db: Database,
  project: ProjectRef,
  events: readonly NewProjectEvent[],
): Promise<void> {
  if (events.length > 0) await db.rows(insertEvents(project, events));
}

/**
 * Does the same as a part of a larger statement.
 * @param project may be a part of that statement too, `of_project`, which has an `id` and a `customer_id`; without a row
 * of it there is no event
 * @param about is a JSON object, for what only the statement knows
 * @param person gives the name of the person who caused them, where only the statement knows it
 */
export function insertEvents(
  project: ProjectRef | SQL,
  events: readonly NewProjectEvent[],
  about: SQL = sql`'{}'::jsonb`,
  person: SQL = sql`null::text`,
): SQL {
  const rows = events.map(({ topic, taskId, subtaskId, attemptNumber, level, actor = SYSTEM, payload = {} }) => ({
    topic,
    taskId,
    subtaskId,
    attemptNumber,
    payload,
    category: TOPICS[topic][0],
    level: level ?? TOPICS[topic][1],
    actorKind: actor.kind,
    actorId: actor.id,
  }));
  const isPart = is(project, SQL);
  const ids = isPart ? sql`of_project.id, of_project.customer_id` : sql`${project.id}, ${project.customerId}`;
  const from = isPart ? sql`${project} as of_project,` : sql``;
  return sql`
    insert into project_events (project_id, customer_id, task_id, subtask_id, attempt_number, level, category, topic,
      actor_kind, actor_id, payload, trace_id)
    select ${ids}, e."taskId", e."subtaskId", e."attemptNumber", e.level::event_level,
      e.category::event_category, e.topic, case when ${person} is null then e."actorKind" else 'human' end, coalesce(${person}, e."actorId"),
      e.payload || ${about},
      ${traceUuid()}::uuid
    from ${from} jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as e("taskId" uuid, "subtaskId" uuid, "attemptNumber" int,
      level text, category text, topic text, "actorKind" text, "actorId" text, payload jsonb)`;
}

/**
 * Moves a project from active to paused. A project that is paused already keeps its first reason, except that a
 * person's reason replaces any other.
 */
export async function pauseLocked(
  db: Database,
  project: LockedProject,
  reason: PauseReason,
  { actor = SYSTEM, ...payload }: { actor?: Actor } & Record<string, unknown> = {},
): Promise<void> {
  const moved = await db.rows(sql`
    update projects set status = 'paused', pause_reason = ${reason}::pause_reason, paused_at = now()
    where id = ${project.id} and (status in ${GOING_PROJECT}
      or (status = 'paused' and ${reason} = 'requested' and pause_reason <> 'requested'))
    returning id`);
  if (moved.length === 0) return;
  project.status = 'paused';
  project.pauseReason = reason;
  await noteProjectEvents(db, project, [{ topic: 'project_paused', actor, payload: { reason, ...payload } }]);
}
