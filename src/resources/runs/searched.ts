/** What search shows of these rows, for a document `p` of the index. */
import { sql, type SQL } from 'drizzle-orm';
import type { Searched } from '../../platform/db/searched.ts';

/** @returns the project that an attempt is of */
type ProjectOf = (attemptId: SQL, customerId: SQL) => SQL;

export const searchedRun =
  (projectOf: ProjectOf): Searched =>
  (customerId) => sql`
  select r.id, left(r.prompt, 120) as title, r.status::text as status, r.agent, r.id as run_id, ${projectOf(sql`r.attempt_id`, sql`r.customer_id`)} as project_id,
    null::int as job_n, null as thread_id, array['id', 'prompt', 'output', 'error'] as names, array[r.id, r.prompt, r.output, r.error] as texts
  from runs r
  where p.kind = 'run' and r.id = p.subject and r.customer_id = ${customerId}`;

export const searchedRunFile: Searched = (customerId) => sql`
  select f.id::text, f.filename, null, f.agent, f.run_id, null, null, null, array['id', 'filename'], array[f.id::text, f.filename]
  from run_artifacts f where f.id = case when p.kind = 'file' then p.subject::uuid end and f.customer_id = ${customerId}`;

export const searchedRunEvent =
  (projectOf: ProjectOf): Searched =>
  (customerId) => sql`
  select e.id::text, title_of_run_event(e.event_type, e.status), null, r.agent, e.run_id, ${projectOf(sql`r.attempt_id`, sql`r.customer_id`)}, null, null, array['event', 'message'],
    array[title_of_run_event(e.event_type, e.status), text_of_run_event(e.payload)]
  from run_events e join runs r on r.id = e.run_id and r.customer_id = e.customer_id
  where e.id = case when p.kind = 'event' and p.subject like 'log-r%' then substr(p.subject, 6)::bigint end and e.customer_id = ${customerId}`;
