/** What search shows of these rows, for a document `p` of the index. */
import { sql, type SQL } from 'drizzle-orm';
import type { Searched } from '../../platform/db/searched.ts';

export const searchedProject: Searched = (customerId) => sql`
  select j.id, j.title, j.status::text, null, null, j.id, null, null,
    array['id', 'title', 'brief', 'workflow'], array[j.id, j.title, j.brief, j.workflow_slug]
  from projects j where p.kind = 'project' and j.id = p.subject and j.customer_id = ${customerId}`;

export const searchedArtifact: Searched = (customerId) => sql`
  select a.id::text, j.title || ': ' || a.phase_slug || ' ' || a.version, null, null, null, a.project_id, null, null,
    array['id', 'phase', 'content'], array[a.id::text, a.phase_slug, a.content #>> '{}']
  from artifacts a join projects j on j.id = a.project_id and j.customer_id = a.customer_id
  where a.id = case when p.kind = 'artifact' then p.subject::uuid end and a.customer_id = ${customerId}`;

/** The project that an attempt is of. */
export const projectOfAttempt = (attemptId: SQL, customerId: SQL): SQL => sql`
  (select a.project_id from attempts a where a.id = ${attemptId} and a.customer_id = ${customerId})`;
