/** Asks what attempts and gates have consumed, and whether it is still what there is. Parts of larger statements. */
import { sql, type SQL } from 'drizzle-orm';
import { wordList } from '../../../platform/db/word-list.ts';
import { GATE_KIND_RULES } from '../../templates/gates/kinds/model.ts';
import { GATE_KINDS } from '../../templates/model.ts';
import type { TaskStatus } from '../model.ts';
import { DONE } from '../store/statuses.ts';

/** Gates of these kinds are asked again if what they show changes. */
const JUDGES = wordList(GATE_KINDS.filter((kind) => GATE_KIND_RULES[kind].isAboutWork));

/** Whether a phase `u` has nothing but gates, so that all it gives to the phases after it is their approval. */
const hasGatesAlone = (u: SQL): SQL => sql`
  not exists (select 1 from subtasks w where w.task_id = ${u}.id and w.kind <> 'gate')`;

/** Columns of a task: the versions of an `Upstream`. */
const versionsOf = (task: SQL): SQL => sql`
  (select a.version from artifacts a where a.task_id = ${task}.id and not a.superseded) as version,
  case when ${task}.artifact_step_slug is not null then (
    select coalesce(max(a.version), 0) + 1 from artifacts a where a.task_id = ${task}.id) end as "nextVersion"`;
export const VERSIONS = versionsOf(sql`t`);

/**
 * Columns of a task `t`, as a `Provenance`. A gate that judges nothing counts only where the phase has nothing else: the
 * steps behind it consume by themselves.
 */
export const PROVENANCE = sql`
  t.spared_for as "sparedFor", (
    select coalesce(jsonb_agg(jsonb_build_object('slug', u.phase_slug, 'status', u.status, 'version', v.version,
      'nextVersion', v."nextVersion")), '[]')
    from tasks u cross join lateral (select ${versionsOf(sql`u`)}) v
    where u.project_id = t.project_id and u.phase_slug = any(t.depends_on)
  ) as upstream, (
    select coalesce(jsonb_agg(each.consumed), '[]')
    from (
      select latest.consumed from subtasks s cross join lateral (
        select a.consumed from attempts a where a.subtask_id = s.id and a.status in ('succeeded', 'running')
        order by a.attempt_number desc limit 1) latest
      where s.task_id = t.id and s.status in ('succeeded', 'running')
      union all
      select s.consumed -> 'phases' from subtasks s
      where s.task_id = t.id and s.kind = 'gate' and s.status = 'succeeded'
        and (s.gate_kind in ${JUDGES} or ${hasGatesAlone(sql`t`)})
    ) each where each.consumed is not null
  ) as given`;

/** The slugs of the steps before one, however far away. */
const stepsBefore = (step: SQL): SQL => sql`(
  with recursive before(slug) as (
    select unnest(${step}.depends_on)
    union
    select unnest(b.depends_on) from before join subtasks b on b.task_id = ${step}.task_id and b.step_slug = before.slug
  ) select slug from before)`;

/** A JSON object: what a gate `g` shows now, as `Shown`. */
export const shownBy = (g: SQL): SQL => sql`
  jsonb_build_object('phases', (
    select coalesce(jsonb_object_agg(a.phase_slug, jsonb_build_object('version', a.version, 'isStale', u.status = 'stale')), '{}')
    from tasks own join tasks u on u.project_id = own.project_id and u.phase_slug = any(own.depends_on)
      join artifacts a on a.task_id = u.id and not a.superseded
    where own.id = ${g}.task_id
  ), 'steps', (
    select coalesce(jsonb_object_agg(b.step_slug, case when b.status in ('pending', 'failed') then 0 else (
      select max(a.attempt_number) from attempts a where a.subtask_id = b.id) end), '{}')
    from subtasks b where b.task_id = ${g}.task_id and b.kind <> 'gate' and b.step_slug in ${stepsBefore(g)}
  ))`;

/** Whether a gate `g` was answered for something else than it shows now. */
const hasChanged = (g: SQL): SQL => {
  const versions = (shown: SQL): SQL => sql`(
    select jsonb_object_agg(each.key, each.value -> 'version') from jsonb_each(${shown} -> 'phases') each)`;
  return sql`(${g}.gate_kind in ${JUDGES} and ${g}.consumed is not null and exists (
    select 1 from (select ${shownBy(g)} as shown) is_now
    where is_now.shown -> 'steps' is distinct from ${g}.consumed -> 'steps'
      or ${versions(sql`is_now.shown`)} is distinct from ${versions(sql`${g}.consumed`)}))`;
};

/** A gate that a step is behind. */
export interface GateBefore {
  subtaskId: string;
  slug: string;
  status: TaskStatus;
  /** It was answered for something else than it shows now. */
  hasChanged: boolean;
}

/** A JSON list of the gates before a step `s` in its phase, however far away, as `GateBefore`. */
export const GATES_BEFORE = sql`(
  select coalesce(jsonb_agg(jsonb_build_object('subtaskId', g.id, 'slug', g.step_slug, 'status', g.status,
    'hasChanged', g.status = 'succeeded' and ${hasChanged(sql`g`)}) order by g.position), '[]')
  from subtasks g where g.task_id = s.task_id and g.kind = 'gate' and g.step_slug in ${stepsBefore(sql`s`)})`;

/** A phase that has nothing but gates, and that another phase is behind. */
export interface ApprovalBefore {
  taskId: string;
  slug: string;
  dependsOn: string[];
  status: TaskStatus;
  /** Some gate of it was answered for something else than it shows now. */
  hasChanged: boolean;
}

/**
 * A JSON list of the phases of gates alone before a task `t`, also of those behind others of them, as `ApprovalBefore` and
 * in pipeline order.
 */
export const APPROVALS_BEFORE = sql`(
  with recursive before(id, depends_on) as (
    select u.id, u.depends_on from tasks u
    where u.project_id = t.project_id and u.phase_slug = any(t.depends_on) and ${hasGatesAlone(sql`u`)}
    union
    select u.id, u.depends_on from before join tasks u on u.project_id = t.project_id and u.phase_slug = any(before.depends_on)
    where ${hasGatesAlone(sql`u`)}
  )
  select coalesce(jsonb_agg(jsonb_build_object('taskId', u.id, 'slug', u.phase_slug, 'dependsOn', u.depends_on,
    'status', u.status, 'hasChanged', exists (
      select 1 from subtasks g where g.task_id = u.id and g.status = 'succeeded' and ${hasChanged(sql`g`)})
    ) order by u.position), '[]')
  from tasks u where u.id in (select id from before))`;

/** Whether all phases of gates alone before a task `t` are done, and were answered for what there is now. */
export const IS_APPROVED = sql`
  not exists (
    select 1 from jsonb_to_recordset(${APPROVALS_BEFORE}) as a(status text, "hasChanged" boolean)
    where a."hasChanged" or a.status not in ${DONE})`;
