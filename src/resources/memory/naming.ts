/** How skills name agents, tools and other skills. */
import { sql, type SQL } from 'drizzle-orm';
import type { Naming } from '../references/model.ts';

const skillsThatName = (customerId: string, slug: string, edge: 'uses_tool' | 'depends_on'): SQL => sql`
  select distinct 'skill' as kind, skill.slug as name
  from memory_edges edge join memory_entries skill on skill.id = edge.src_id
  where edge.customer_id = ${customerId} and edge.edge_type = ${edge} and edge.dst_slug = ${slug}
    and skill.customer_id = ${customerId} and skill.type = 'skill' and skill.slug <> ${slug}`;

export const skillsNaming: Naming = {
  agent: (customerId, slug) => sql`
    select 'skill' as kind, slug as name from memory_entries
    where customer_id = ${customerId} and type = 'skill' and ${slug} = any(agents)`,
  tool: (customerId, slug) => skillsThatName(customerId, slug, 'uses_tool'),
  skill: (customerId, slug) => skillsThatName(customerId, slug, 'depends_on'),
};
