/** What the record says of one project at one moment, what moved in it, and what must hold at any moment. */
import { sql } from 'drizzle-orm';
import { first } from '../../../../src/platform/core/present.ts';
import type { Database } from '../../../../src/platform/db/client.ts';
import type { ProjectStatus, TaskStatus } from '../../../../src/resources/projects/model.ts';
import type { GateKind } from '../../../../src/resources/templates/model.ts';

/** The latest wait of a gate of people. */
export interface WaitState {
  id: string;
  revision: number;
  isOpen: boolean;
  /** Its time runs, and something will come of that. */
  isTimed: boolean;
  /** The seats that have approved this revision. */
  approvals: string[];
  /** Who stands in, by for whom. */
  standIns: Record<string, string>;
}
export interface StepState {
  id: string;
  slug: string;
  kind: 'agent' | 'action' | 'gate';
  gateKind: GateKind | null;
  status: TaskStatus;
  dependsOn: string[];
  isQueued: boolean;
  isRunning: boolean;
  /** E-mail addresses; null: anybody. */
  approvers: string[] | null;
  quorum: number;
  wait: WaitState | null;
}
export interface PhaseState {
  id: string;
  slug: string;
  kind: 'regular' | 'edit_session';
  status: TaskStatus;
  mode: 'lazy' | 'strict' | 'none';
  dependsOn: string[];
  iteration: number;
  /** Versions of its artifact; the current one. */
  versions: number[];
  current: number | null;
  steps: StepState[];
}
export interface ProjectState {
  status: ProjectStatus;
  pauseReason: string | null;
  events: number;
  phases: PhaseState[];
  /** Nobody works on some phase that looks under way, until the project's workflow is started again. */
  isOrphaned?: boolean;
}

export async function readState(db: Database, projectId: string): Promise<ProjectState> {
  const row = first(
    await db.rows<ProjectState>(sql`
    select p.status, p.pause_reason as "pauseReason",
      (select count(*)::int from project_events e where e.project_id = p.id) as events,
      (select jsonb_agg(jsonb_build_object('id', t.id, 'slug', t.phase_slug, 'kind', t.task_kind, 'status', t.status,
          'mode', t.cascade_on_upstream_change, 'dependsOn', t.depends_on, 'iteration', t.iteration,
          'versions', (select coalesce(jsonb_agg(version order by version), '[]') from artifacts where task_id = t.id),
          'current', (select max(version) from artifacts where task_id = t.id and not superseded),
          'steps', (select jsonb_agg(jsonb_build_object('id', s.id, 'slug', s.step_slug, 'kind', s.kind,
              'gateKind', s.gate_kind, 'status', s.status, 'dependsOn', s.depends_on,
              'isQueued', exists (select 1 from attempts a where a.subtask_id = s.id and a.status = 'pending'),
              'isRunning', exists (select 1 from attempts a where a.subtask_id = s.id and a.status = 'running'),
              'approvers', s.gate_config #> '{approvers,members}', 'quorum', coalesce((s.gate_config ->> 'quorum')::int, 1),
              'wait', (select jsonb_build_object('id', w.id, 'revision', w.revision, 'isOpen', w.settled_at is null,
                  'isTimed', w.due_at is not null and w.timed_out_at is null,
                  'approvals', (select coalesce(jsonb_agg(distinct coalesce(v.seat, v.voter)), '[]') from wait_votes v
                    where v.wait_id = w.id and v.revision = w.revision and v.answer = 'approve'),
                  'standIns', (select coalesce(jsonb_object_agg(d.delegator, d.stand_in), '{}') from wait_delegations d
                    where d.wait_id = w.id and d.until > now()))
                from waits w where w.subtask_id = s.id and s.gate_kind = 'human' order by w.revision desc limit 1)
            ) order by s.position) from subtasks s where s.task_id = t.id)
        ) order by t.position) from tasks t where t.project_id = p.id) as phases
    from projects p where p.id = ${projectId}`),
  );
  return row;
}

/** Every change of a status is logged by the database itself, so that none goes by unseen. */
export async function logMoves(db: Database): Promise<void> {
  await db.rows(sql`create table moves (
    id bigserial primary key, project_id text, what text, of text, was text, now text, project_status text)`);
  await db.rows(sql`
    create function log_move() returns trigger language plpgsql as $$
    declare project text; name text;
    begin
      project := case when tg_table_name = 'projects' then to_jsonb(new) ->> 'id' else to_jsonb(new) ->> 'project_id' end;
      name := coalesce(to_jsonb(new) ->> 'phase_slug', to_jsonb(new) ->> 'step_slug', to_jsonb(new) ->> 'subtask_id');
      insert into moves (project_id, what, of, was, now, project_status)
      select project, tg_table_name, name, case when tg_op = 'UPDATE' then to_jsonb(old) ->> 'status' else 'none' end,
        to_jsonb(new) ->> 'status', (select status::text from projects where id = project);
      return null;
    end $$`);
  for (const table of ['projects', 'tasks', 'subtasks', 'attempts']) {
    await db.rows(sql`
      create trigger log_move after update on ${sql.identifier(table)}
      for each row when (old.status is distinct from new.status) execute function log_move()`);
  }
  await db.rows(sql`create trigger log_start after insert on attempts for each row execute function log_move()`);
  // Which version is current, in one order with what begins: all of it happens under the lock of its project.
  await db.rows(sql`
    create function log_version() returns trigger language plpgsql as $$
    begin
      insert into moves (project_id, what, of, was, now, project_status)
      select new.project_id, 'artifacts', new.phase_slug, '', new.version, '';
      return null;
    end $$`);
  await db.rows(sql`
    create trigger log_version after insert or update on artifacts
    for each row when (not new.superseded) execute function log_version()`);
}

export interface Move {
  id: number;
  what: 'projects' | 'tasks' | 'subtasks' | 'attempts';
  of: string | null;
  was: string;
  now: string;
  projectStatus: ProjectStatus;
}
export const movesOf = (db: Database, projectId: string, after: number): Promise<Move[]> =>
  db.rows<Move>(sql`
    select id::int, what, of, was, now, project_status as "projectStatus" from moves
    where project_id = ${projectId} and what <> 'artifacts' and id > ${after} order by id`);

/**
 * Phases that pass for up to date and were made from something else than what there is now. From the log alone: each
 * attempt consumed what was current when it began. Those that a person's choice or `none` left as they are do not count.
 */
export async function outdatedPhases(db: Database, projectId: string): Promise<string[]> {
  const rows = await db.rows<{ fault: string }>(sql`
    with began as (
      select m.id, a.subtask_id, a.task_id, row_number() over (partition by a.subtask_id order by a.attempt_number desc) as nth
      from attempts a join lateral (
        select max(id) as id from moves m where m.project_id = a.project_id and m.what = 'attempts'
          and m.of = a.subtask_id::text and m.now = 'running'
          and (select count(*) from moves n where n.project_id = a.project_id and n.what = 'attempts' and n.now = 'running'
            and n.of = m.of and n.id <= m.id) = (
              select count(*) from attempts b where b.subtask_id = a.subtask_id and b.attempt_number <= a.attempt_number
                and b.started_at is not null)
      ) m on true
      where a.project_id = ${projectId} and a.status = 'succeeded'
    )
    select t.phase_slug || ' is ' || t.status || ', but ' || s.step_slug || ' was given version ' || coalesce(had.now, 'none')
      || ' of ' || u.phase_slug || ', which has ' || is_now.now as fault
    from tasks t
      join subtasks s on s.task_id = t.id and s.status = 'succeeded'
      join began b on b.subtask_id = s.id and b.nth = 1
      join tasks u on u.project_id = t.project_id and u.phase_slug = any(t.depends_on)
      join lateral (select now from moves where project_id = t.project_id and what = 'artifacts' and of = u.phase_slug
        order by id desc limit 1) is_now on true
      left join lateral (select now from moves where project_id = t.project_id and what = 'artifacts' and of = u.phase_slug
        and id < b.id order by id desc limit 1) had on true
    where t.project_id = ${projectId} and t.status = 'succeeded' and had.now is distinct from is_now.now
      and not exists (
        select 1 from project_events e where e.project_id = t.project_id and (
          (e.topic = 'cascade_skipped' and e.payload -> 'phase_slugs' ? t.phase_slug)
          or (e.topic in ('artifact_reverted', 'artifact_set_manually') and e.task_id = t.id)))`);
  return rows.map(({ fault }) => fault);
}

const IN_FLIGHT = ['running', 'blocked', 'review'];
const fromFlight = [...IN_FLIGHT, 'succeeded', 'failed', 'skipped', 'stale', 'pending'];
/** Sections 3.3, 3.4 and 3.7 of the specification, with what decisions adds: the ways that there are. */
const WAYS: Record<Move['what'], Record<string, readonly string[]>> = {
  projects: {
    planning: ['active', 'paused', 'abandoned'],
    active: ['paused', 'completed', 'abandoned'],
    paused: ['active', 'abandoned'],
    completed: ['active'],
    abandoned: [],
  },
  tasks: {
    pending: ['running', 'skipped'],
    ...Object.fromEntries(IN_FLIGHT.map((status) => [status, fromFlight])),
    succeeded: ['stale', 'pending'],
    // Completed by hand; or, an edit session, given up.
    failed: ['pending', 'succeeded', 'skipped'],
    skipped: ['pending'],
    stale: ['pending', 'succeeded'],
  },
  subtasks: {
    pending: ['running', 'blocked', 'succeeded', 'failed', 'skipped'],
    running: ['succeeded', 'failed', 'pending', 'skipped'],
    blocked: ['succeeded', 'failed', 'pending', 'skipped'],
    succeeded: ['pending'],
    failed: ['pending', 'skipped'],
    skipped: ['pending'],
  },
  attempts: {
    none: ['pending', 'running'],
    pending: ['running', 'failed'],
    running: ['succeeded', 'failed'],
    succeeded: [],
    failed: [],
  },
};
export const isLegal = ({ what, was, now }: Move): boolean => WAYS[what][was]?.includes(now) ?? false;

/** What is wrong with the record, whatever happens at this moment. */
export async function faultsOf(db: Database, projectId: string): Promise<string[]> {
  const rows = await db.rows<{ fault: string }>(sql`
    select 'phase ' || phase_slug || ' has ' || count(*) filter (where not superseded) || ' current artifacts' as fault
    from artifacts where project_id = ${projectId} group by task_id, phase_slug
    having count(*) filter (where not superseded) <> 1
    union all
    select 'versions of ' || phase_slug || ' are not 1 to n' from artifacts where project_id = ${projectId}
    group by task_id, phase_slug having max(version) <> count(*) or min(version) <> 1
    union all
    select 'attempts of ' || subtask_id || ' are not 1 to n' from attempts where project_id = ${projectId}
    group by subtask_id having max(attempt_number) <> count(*) or min(attempt_number) <> 1
    union all
    select 'two open attempts of ' || subtask_id from attempts
    where project_id = ${projectId} and status in ('pending', 'running') group by subtask_id having count(*) > 1
    union all
    select 'the project cost ' || spent.usd || ', its attempts ' || made.usd
    from (select coalesce(sum(spent_usd), 0) as usd from budgets where id = 'project:' || ${projectId}) spent,
      (select coalesce(sum(cost_usd), 0) as usd from attempts where project_id = ${projectId}) made
    where spent.usd <> made.usd
    union all
    select 'the phase ' || t.phase_slug || ' cost ' || b.spent_usd || ', its attempts ' || made.usd
    from tasks t join budgets b on b.id = 'task:' || t.id cross join lateral (
      select coalesce(sum(cost_usd), 0) as usd from attempts where task_id = t.id) made
    where t.project_id = ${projectId} and b.spent_usd <> made.usd
    union all
    select 'step ' || step_slug || ' runs without an attempt' from subtasks s
    where s.project_id = ${projectId} and s.status = 'running'
      and not exists (select 1 from attempts a where a.subtask_id = s.id and a.status = 'running')
    union all
    select 'attempt ' || a.attempt_number || ' of ' || s.step_slug || ' runs in a phase that is ' || t.status
    from attempts a join subtasks s on s.id = a.subtask_id join tasks t on t.id = a.task_id
    where a.project_id = ${projectId} and a.status = 'running' and t.status not in ('running', 'blocked', 'review')
    union all
    select 'it is complete, but ' || t.phase_slug || ' is ' || t.status
    from projects p join tasks t on t.project_id = p.id
    where p.id = ${projectId} and p.status = 'completed' and t.status not in ('succeeded', 'skipped', 'stale')
    union all
    select 'the gate ' || s.step_slug || ' was passed by ' || coalesce(said.by, 'nobody') || ' of revision ' || w.revision
    from waits w join subtasks s on s.id = w.subtask_id cross join lateral (
      select string_agg(distinct coalesce(v.seat, v.voter), ', ') as by, count(distinct coalesce(v.seat, v.voter)) as seats
      from wait_votes v where v.wait_id = w.id and v.revision = w.revision and v.answer = 'approve') said
    where w.project_id = ${projectId} and w.answer = 'approve' and w.settled_via <> 'timeout'
      and s.gate_config ?| array['approvers', 'quorum'] and said.seats < coalesce((s.gate_config ->> 'quorum')::int, 1)
    union all
    select v.voter || ' has voted for ' || coalesce(v.seat, v.voter) || ' at ' || s.step_slug
    from wait_votes v join waits w on w.id = v.wait_id join subtasks s on s.id = w.subtask_id
    where w.project_id = ${projectId} and s.gate_config -> 'approvers' is not null
      and not s.gate_config #> '{approvers,members}' ? coalesce(v.seat, v.voter)
    union all
    select v.voter || ' has voted for ' || v.seat || ' and was never asked to' from wait_votes v join waits w on w.id = v.wait_id
    where w.project_id = ${projectId} and v.seat <> v.voter and not exists (
      select 1 from project_events e where e.project_id = w.project_id and e.topic = 'gate_delegated'
        and e.actor_id = v.seat and e.payload ->> 'to' = v.voter)
    union all
    select 'time decided on ' || s.step_slug || ': ' || w.answer from waits w join subtasks s on s.id = w.subtask_id
    where w.project_id = ${projectId} and s.gate_kind = 'human' and w.settled_via = 'timeout'
      and (w.timed_out_at is null or w.answer is distinct from s.gate_config ->> 'on_timeout')`);
  return rows.map(({ fault }) => fault);
}
