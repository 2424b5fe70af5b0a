/** Runs a command: one transaction under the project's lock that answers the same when it is repeated. */
import { sql } from 'drizzle-orm';
import { Problem } from '../../../platform/core/problem.ts';
import { urgently, type Database } from '../../../platform/db/client.ts';
import type { Actor, CommandTexts, PhaseChange, Way } from '../model.ts';
import { lockProject, noteProjectEvents, type LockedProject } from '../store/record.ts';
import { forgetStops } from '../store/stops.ts';
import { nameOf, settleWait } from '../store/waits.ts';

export interface CommandScope {
  projectId: string;
  /** The unique id of the update. A command whose repeat the state itself makes harmless has none. */
  commandId?: string | null;
}

/**
 * @param work is given what the caller of the command said in their own words
 * @throws Problem not_found
 */
export function runCommand<T>(
  db: Database,
  { projectId, commandId }: CommandScope,
  work: (project: LockedProject, texts: CommandTexts) => Promise<T>,
): Promise<T> {
  const decide = async (): Promise<T> => {
    const project = await lockProject(db, projectId);
    if (!commandId) return work(project, {});
    const [known] = await db.rows<{ isDone: boolean; result: T; args: CommandTexts | null }>(sql`
      select result is not null as "isDone", result, args from project_commands
      where project_id = ${projectId} and command_id = ${commandId}`);
    if (known?.isDone) return known.result;
    const result = await work(project, known?.args ?? {});
    await db.rows(sql`
      insert into project_commands (project_id, command_id, result)
      values (${projectId}, ${commandId}, ${JSON.stringify(result)}::jsonb)
      on conflict (project_id, command_id) do update set result = excluded.result`);
    return result;
  };
  return urgently(() => db.transaction(decide));
}

/** @throws Problem project_ended */
export function refuseAbandoned({ status }: LockedProject): void {
  if (status === 'abandoned') throw new Problem('project_ended', 'the project was abandoned');
}

/** Reopens a complete project to which work was added: it goes on, and completes again. */
export async function reopen(db: Database, project: LockedProject, actor: Actor): Promise<void> {
  const moved = await db.rows(sql`
    with resolved as (${forgetStops(project.id)})
    update projects set status = 'active', completed_at = null
    where id = ${project.id} and status = 'completed' returning id`);
  if (moved.length === 0) return;
  project.status = 'active';
  await noteProjectEvents(db, project, [{ topic: 'project_started', actor, payload: { reopened: true } }]);
}

/**
 * Makes a project that waits begin, or go on.
 * @param answered tells with what, and how, where somebody was waited for
 */
export async function activate(
  db: Database,
  project: LockedProject,
  actor: Actor,
  payload: Record<string, unknown>,
  { answer = 'resume', via = 'elsewhere' }: { answer?: string; via?: Way | undefined } = {},
): Promise<void> {
  await db.rows(sql`
    with answered as (${settleWait(project.id, project, { answer, by: nameOf(actor), via })}),
      resolved as (${forgetStops(project.id)})
    update projects set status = 'active', pause_reason = null, paused_at = null, started_at = coalesce(started_at, now())
    where id = ${project.id}`);
  project.status = 'active';
  project.pauseReason = null;
  await noteProjectEvents(db, project, [{ topic: 'project_started', actor, payload }]);
}

/** Keeps the last change of each phase. */
export const compact = (changes: readonly PhaseChange[]): PhaseChange[] => [
  ...new Map(changes.map((change) => [change.slug, change])).values(),
];
