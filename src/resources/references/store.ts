/** Finds what of a workspace names an agent, a tool or a skill. Every query takes the workspace. */
import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';
import type { UsedKind } from './model.ts';
import { OPEN_PROJECT } from '../projects/store/statuses.ts';

export type ReferenceStore = ReturnType<typeof createReferenceStore>;

export interface User {
  kind: 'agent' | 'skill' | 'workflow' | 'project' | 'job' | 'heartbeat';
  name: string;
}

/** Each selects `kind` and `name` of what the workspace has that names the slug. */
const OTHERS: Readonly<Record<UsedKind, (customerId: string, slug: string) => SQL>> = {
  agent: (customerId, slug) => sql`
    select 'job' as kind, name from scheduled_jobs where customer_id = ${customerId} and agent_slug = ${slug}
    union all
    select 'heartbeat', name from heartbeats where customer_id = ${customerId} and agent_slug = ${slug}
    union all
    select 'skill', slug from memory_entries
    where customer_id = ${customerId} and type = 'skill' and ${slug} = any(agents)`,
  tool: (customerId, slug) => sql`
    select 'agent' as kind, slug as name from agents
    where customer_id = ${customerId} and ${slug} = any(allowed_tools)
    union all ${skillsThatName(customerId, slug, 'uses_tool')}`,
  skill: (customerId, slug) => skillsThatName(customerId, slug, 'depends_on'),
};

const skillsThatName = (customerId: string, slug: string, edge: 'uses_tool' | 'depends_on'): SQL => sql`
  select distinct 'skill' as kind, skill.slug as name
  from memory_edges edge join memory_entries skill on skill.id = edge.src_id
  where edge.customer_id = ${customerId} and edge.edge_type = ${edge} and edge.dst_slug = ${slug}
    and skill.customer_id = ${customerId} and skill.type = 'skill' and skill.slug <> ${slug}`;

/** How a step of a workflow, and one of a project, name it. */
const IN_STEPS: Readonly<Record<UsedKind, { path: SQL; row: (slug: string) => SQL }>> = {
  agent: {
    path: sql`'$.phases[*].steps[*] ? (@.kind == "agent" && @.assignee == $slug)'`,
    row: (slug) => sql`step.kind = 'agent' and step.assignee = ${slug}`,
  },
  tool: { path: sql`'$.phases[*].steps[*].tools[*] ? (@ == $slug)'`, row: (slug) => sql`${slug} = any(step.tools)` },
  skill: { path: sql`'$.phases[*].steps[*].skills[*] ? (@ == $slug)'`, row: (slug) => sql`${slug} = any(step.skills)` },
};

export const createReferenceStore = (db: Database) => ({
  /**
   * Lists what names it, among workflows the latest active version of each, among projects those that are not over.
   * @returns the first of them, and how many there are
   */
  async usersOf(customerId: string, kind: UsedKind, slug: string, limit: number): Promise<[User[], total: number]> {
    const { path, row } = IN_STEPS[kind];
    const rows = await db.rows<User & { total: number }>(sql`
      select kind, name, count(*) over ()::int as total
      from (
        ${OTHERS[kind](customerId, slug)}
        union all
        select 'workflow', latest.slug
        from (
          select distinct on (slug) slug, spec from templates
          where customer_id = ${customerId} and status = 'active' order by slug, version desc
        ) latest
        where jsonb_path_exists(latest.spec, ${path}, jsonb_build_object('slug', ${slug}::text))
        union all
        select distinct 'project', project.id
        from projects project join subtasks step on step.project_id = project.id
        where project.customer_id = ${customerId} and project.status in ${OPEN_PROJECT}
          and ${row(slug)}
      ) users
      order by kind, name limit ${limit}`);
    return [rows.map(({ kind, name }) => ({ kind, name })), rows[0]?.total ?? 0];
  },
});
