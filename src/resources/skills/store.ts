/** Queries on a workspace's skills, among the built-in ones. Every one takes the workspace. */
import { and, asc, eq, sql } from 'drizzle-orm';
import { found, type Database } from '../../platform/db/client.ts';
import type { Embedding } from '../../platform/models/types.ts';
import { Problem } from '../../platform/core/problem.ts';
import { SKILL, type WikilinkType } from '../memory/model.ts';
import { lockGraph, writeEdges } from '../memory/store/edges.ts';
import { insertEntry } from '../memory/store/entries.ts';
import { memoryEntries } from '../memory/table.ts';
import { builtinReferences, builtinSkills } from './builtin/index.ts';
import {
  agentOf,
  categoryOf,
  lengthOf,
  scopeOf,
  titleOf,
  type BuiltinSkill,
  type OfferedSkill,
  type Skill,
  type SkillDetail,
} from './model.ts';

export type SkillStore = ReturnType<typeof createSkillStore>;

type Row = typeof memoryEntries.$inferSelect;
/** The body of a skill, and the meaning of the links in it. */
export interface SkillText {
  content: string;
  embedding: Embedding | null;
  typeOf: (slug: string) => WikilinkType;
}
export type SkillFields = Partial<Pick<Row, 'name' | 'description' | 'category' | 'agents' | 'alwaysLoad'>>;

// The type is written out as it stands in the index on skills, which a prepared statement could not use for a
// parameter.
const isSkill = sql`${memoryEntries.type} = '${sql.raw(SKILL)}'`;
const skillsOf = (customerId: string) => and(eq(memoryEntries.customerId, customerId), isSkill);
const skillIs = (customerId: string, slug: string) => and(skillsOf(customerId), eq(memoryEntries.slug, slug));

const listColumns = {
  id: memoryEntries.id,
  slug: sql<string>`${memoryEntries.slug}`,
  name: sql<string>`${memoryEntries.name}`,
  description: memoryEntries.description,
  category: memoryEntries.category,
  bodyLength: sql<number>`char_length(${memoryEntries.content})`,
};
const detailColumns = {
  ...listColumns,
  body: memoryEntries.content,
  alwaysLoad: memoryEntries.alwaysLoad,
  status: memoryEntries.status,
  agents: memoryEntries.agents,
};

export const createSkillStore = (db: Database) => ({
  /**
   * @returns built-in skills in their own order, then custom ones by slug; a built-in that came later displaces none
   */
  async list(customerId: string): Promise<Skill[]> {
    const rows = await db.orm
      .select(listColumns)
      .from(memoryEntries)
      .where(skillsOf(customerId))
      .orderBy(asc(memoryEntries.slug));
    const taken = new Set(rows.map(({ slug }) => slug));
    return [...[...builtinSkills.values()].filter(({ slug }) => !taken.has(slug)).map(ofBuiltin), ...rows.map(ofRow)];
  },

  /** @throws Problem not_found */
  async find(customerId: string, slug: string): Promise<SkillDetail> {
    const [row] = await db.orm.select(detailColumns).from(memoryEntries).where(skillIs(customerId, slug));
    if (row) return ofRow(row);
    return ofBuiltin(found(builtinSkills.get(slug)));
  },

  /** @returns how many skills, built-in ones included, name each slug in their body */
  async countReferences(customerId: string): Promise<(slug: string) => number> {
    const rows = await db.rows<{ slug: string; count: number }>(sql`
      select edge.dst_slug as slug, count(*)::int as count
      from memory_edges edge join memory_entries skill on skill.id = edge.src_id
      where edge.customer_id = ${customerId} and edge.edge_type = 'depends_on'
        and skill.slug is distinct from edge.dst_slug
      group by edge.dst_slug`);
    const counts = new Map(rows.map(({ slug, count }) => [slug, count]));
    return (slug) => (counts.get(slug) ?? 0) + builtinReferences(slug);
  },

  countCustom: (customerId: string): Promise<number> => db.orm.$count(memoryEntries, skillsOf(customerId)),

  /** It is called in a transaction that holds the graph's lock. @throws Problem slug_taken */
  async insert(
    customerId: string,
    slug: string,
    { content, embedding, typeOf }: SkillText,
    fields: SkillFields & { name: string },
  ): Promise<void> {
    if (builtinSkills.has(slug)) throw new Problem('slug_taken', `there is a built-in skill "${slug}"`);
    await insertEntry(
      db,
      customerId,
      { ...columnsOf(fields), type: SKILL, slug, name: fields.name, content, embedding },
      typeOf,
    );
  },

  /**
   * @param change makes the change of the skill as it is, read under a lock
   * @throws Problem not_found, and what `change` throws
   */
  async update(
    customerId: string,
    slug: string,
    text: SkillText | undefined,
    change: (before: { agents: readonly string[] }) => SkillFields,
  ): Promise<void> {
    await db.transaction(async () => {
      await lockGraph(db, customerId);
      const [row] = await db.orm
        .select({ id: memoryEntries.id, agents: memoryEntries.agents })
        .from(memoryEntries)
        .where(skillIs(customerId, slug))
        .for('update');
      const { id, agents } = found(row);
      await db.orm
        .update(memoryEntries)
        .set({
          ...columnsOf(change({ agents })),
          ...(text && { content: text.content, embedding: text.embedding }),
          updatedAt: sql`now()`,
        })
        .where(eq(memoryEntries.id, id));
      if (text) await writeEdges(db, { customerId, id, content: text.content }, text.typeOf);
    });
  },

  /** Deletes a skill, whereby links to it become unresolved. @throws Problem not_found */
  async delete(customerId: string, slug: string): Promise<void> {
    await db.transaction(async () => {
      await lockGraph(db, customerId);
      const deleted = await db.orm
        .delete(memoryEntries)
        .where(skillIs(customerId, slug))
        .returning({ id: memoryEntries.id });
      found(deleted[0]);
    });
  },

  /** @returns those of these slugs that a run could be given */
  async existing(customerId: string, slugs: readonly string[]): Promise<Set<string>> {
    const known = slugs.filter((slug) => builtinSkills.has(slug));
    if (known.length === slugs.length) return new Set(known);
    const rows = await db.orm
      .select({ slug: listColumns.slug })
      .from(memoryEntries)
      .where(and(skillsOf(customerId), isActive, sql`${memoryEntries.slug} = any(${sql.param(slugs)}::text[])`));
    return new Set([...known, ...rows.map(({ slug }) => slug)]);
  },

  /**
   * @returns what an agent is told of: skills for it or for all, and those that it is given, whoever they are for.
   * Bodies come with those given and those that are always loaded.
   */
  async offered(
    customerId: string,
    { agent, given, hasOwn }: { agent: string; given: readonly string[]; hasOwn: boolean },
  ): Promise<OfferedSkill[]> {
    const isGiven = sql`${memoryEntries.slug} = any(${sql.param(given)}::text[])`;
    const own = () =>
      db.orm
        .select({
          slug: listColumns.slug,
          name: listColumns.name,
          description: memoryEntries.description,
          alwaysLoad: memoryEntries.alwaysLoad,
          body: sql<
            string | null
          >`case when ${memoryEntries.alwaysLoad} or ${isGiven} then ${memoryEntries.content} end`,
        })
        .from(memoryEntries)
        .where(and(skillsOf(customerId), isActive, sql`(${isFor(agent)} or ${isGiven})`))
        .orderBy(asc(memoryEntries.slug));
    const rows = hasOwn ? await own() : [];
    const taken = new Set(rows.map(({ slug }) => slug));
    const builtin = [...builtinSkills.values()]
      .filter(({ slug, agents }) => !taken.has(slug) && (agents.includes(agent) || given.includes(slug)))
      .map(({ slug, title, description, body }) => ({
        slug,
        title,
        description,
        alwaysLoad: false,
        body: given.includes(slug) ? body : null,
      }));
    return [...builtin, ...rows.map(({ name, ...row }) => ({ ...row, title: titleOf(name) }))];
  },

  /** @returns the body of a skill that this agent can load */
  async load(customerId: string, agent: string, slug: string): Promise<{ title: string; body: string } | undefined> {
    const [row] = await db.orm
      .select({ name: listColumns.name, body: memoryEntries.content })
      .from(memoryEntries)
      .where(and(skillIs(customerId, slug), isActive, isFor(agent)));
    if (row) return { title: titleOf(row.name), body: row.body };
    const builtin = builtinSkills.get(slug);
    return builtin && { title: builtin.title, body: builtin.body };
  },

  /** @returns all skills that this agent can load */
  async loadable(customerId: string, agent: string): Promise<string[]> {
    const rows = await db.orm
      .select({ slug: listColumns.slug })
      .from(memoryEntries)
      .where(and(skillsOf(customerId), isActive, isFor(agent)))
      .orderBy(asc(memoryEntries.slug));
    return [...new Set([...rows.map(({ slug }) => slug), ...builtinSkills.keys()])];
  },
});

const isActive = eq(memoryEntries.status, 'active');
const isFor = (agent: string) => sql`(${memoryEntries.agents} = '{}' or ${agent} = any(${memoryEntries.agents}))`;

/** Derives scope and single agent from the agents, because the memory shows them too. */
function columnsOf(fields: SkillFields) {
  const { agents } = fields;
  if (agents === undefined) return fields;
  return { ...fields, scope: scopeOf({ agents }), agent: agentOf({ agents }) };
}

type ListRow = { name: string; category: string | null; slug: string };
const ofRow = <T extends ListRow>({ name, category, ...row }: T) => ({
  ...row,
  title: titleOf(name),
  category: category ?? categoryOf(row.slug),
  isBuiltin: false,
});

const ofBuiltin = (builtin: BuiltinSkill): SkillDetail => ({
  ...builtin,
  id: null,
  agents: [],
  bodyLength: lengthOf(builtin.body),
  alwaysLoad: false,
  status: 'active',
  isBuiltin: true,
});
