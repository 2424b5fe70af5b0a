/** How steps of projects name agents, tools and skills. Projects that are not over count. */
import { sql, type SQL } from 'drizzle-orm';
import type { Naming } from '../references/model.ts';
import { OPEN_PROJECT } from './store/statuses.ts';

const openWith =
  (names: (slug: string) => SQL) =>
  (customerId: string, slug: string): SQL => sql`
    select distinct 'project' as kind, project.id as name
    from projects project join subtasks step on step.project_id = project.id
    where project.customer_id = ${customerId} and project.status in ${OPEN_PROJECT} and ${names(slug)}`;

export const projectsNaming: Naming = {
  agent: openWith((slug) => sql`step.kind = 'agent' and step.assignee = ${slug}`),
  tool: openWith((slug) => sql`${slug} = any(step.tools)`),
  skill: openWith((slug) => sql`${slug} = any(step.skills)`),
};
