/** How steps of workflows name agents, tools and skills. Of each workflow the latest active version counts. */
import { sql, type SQL } from 'drizzle-orm';
import type { Naming } from '../references/model.ts';

const latestWith =
  (path: SQL) =>
  (customerId: string, slug: string): SQL => sql`
    select 'workflow' as kind, latest.slug as name
    from (
      select distinct on (slug) slug, spec from templates
      where customer_id = ${customerId} and status = 'active' order by slug, version desc
    ) latest
    where jsonb_path_exists(latest.spec, ${path}, jsonb_build_object('slug', ${slug}::text))`;

export const workflowsNaming: Naming = {
  agent: latestWith(sql`'$.phases[*].steps[*] ? (@.kind == "agent" && @.assignee == $slug)'`),
  tool: latestWith(sql`'$.phases[*].steps[*].tools[*] ? (@ == $slug)'`),
  skill: latestWith(sql`'$.phases[*].steps[*].skills[*] ? (@ == $slug)'`),
};
