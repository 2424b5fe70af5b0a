/**
 * Queries on workflow templates. A workspace sees its own rows and the built-in ones, which have no workspace; where
 * both have a version, its own is meant. It writes its own alone.
 */
import { and, asc, desc, eq, isNull, or, sql, type SQL } from 'drizzle-orm';
import { Problem } from '../../platform/core/problem.ts';
import { found, type Database } from '../../platform/db/client.ts';
import { workspaceOf } from '../workspaces/store/fragments.ts';
import type { TemplateFilter } from './contract.ts';
import type { BuiltinTemplate, WorkflowSpec } from './model.ts';
import { templates } from './table.ts';

export type TemplateStore = ReturnType<typeof createTemplateStore>;
export type TemplateRow = typeof templates.$inferSelect;
export type TemplateMetadata = Partial<Pick<TemplateRow, 'collection' | 'tags' | 'description'>>;
type Outline = Omit<TemplateRow, 'id' | 'spec' | 'createdAt'>;

const OUTLINE = {
  customerId: templates.customerId,
  slug: templates.slug,
  version: templates.version,
  name: templates.name,
  description: templates.description,
  collection: templates.collection,
  tags: templates.tags,
  phaseCount: templates.phaseCount,
  status: templates.status,
  updatedAt: templates.updatedAt,
};

const ACTIVE = eq(templates.status, 'active');
const OWN_FIRST = sql`${templates.customerId} is null`;
const visibleTo = (customerId: string) => or(eq(templates.customerId, customerId), isNull(templates.customerId));
const ownOf = (customerId: string, slug: string) => and(eq(templates.customerId, customerId), eq(templates.slug, slug));
const seen = (customerId: string, slug: string) => and(visibleTo(customerId), eq(templates.slug, slug));

const rowOf = (spec: WorkflowSpec, { collection, tags, description }: TemplateMetadata) => ({
  slug: spec.slug,
  version: spec.version,
  name: spec.title,
  description: description ?? spec.description ?? '',
  collection: collection ?? null,
  tags: tags ?? [],
  spec,
  phaseCount: spec.phases.length,
});

export const createTemplateStore = (db: Database) => {
  /** Versions of one workflow of one workspace are made one after another. */
  const makingVersions = (customerId: string, slug: string, make: () => Promise<TemplateRow>): Promise<TemplateRow> =>
    db.transaction(async () => {
      await db.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`template:${customerId}/${slug}`}, 0))`);
      const [workspace] = await db.rows<{ status: string }>(sql`
        select status from ${workspaceOf(customerId)} w`);
      if (found(workspace).status === 'archived') throw new Problem('workspace_archived');
      return make();
    });

  const insert = async (row: typeof templates.$inferInsert): Promise<TemplateRow> => {
    const [inserted] = await db.orm.insert(templates).values(row).onConflictDoNothing().returning();
    if (!inserted) throw new Problem('version_exists', `version ${row.version} of ${row.slug} exists`);
    return inserted;
  };

  /** The latest version of each slug, active ones first; of those slugs that have one that qualifies. */
  const latest = (customerId: string, qualifies: SQL | undefined) =>
    db.orm
      .selectDistinctOn([templates.slug], OUTLINE)
      .from(templates)
      .where(and(visibleTo(customerId), qualifies))
      .orderBy(asc(templates.slug), asc(templates.status), desc(templates.version), OWN_FIRST)
      .as('latest');

  return {
    async list(customerId: string, { collection, tag, include_archived }: TemplateFilter): Promise<Outline[]> {
      const shown = latest(customerId, include_archived ? undefined : ACTIVE);
      return db.orm
        .select()
        .from(shown)
        .where(
          and(
            collection === undefined ? undefined : eq(shown.collection, collection),
            tag === undefined ? undefined : sql`${tag} = any(${shown.tags})`,
          ),
        )
        .orderBy(asc(shown.slug));
    },

    /** What a project can be started from, with the schema of its params. */
    listStartable: (customerId: string) =>
      db.orm
        .selectDistinctOn([templates.slug], {
          slug: templates.slug,
          version: templates.version,
          name: templates.name,
          description: templates.description,
          params: sql<WorkflowSpec['params'] | null>`${templates.spec} -> 'params'`,
        })
        .from(templates)
        .where(and(visibleTo(customerId), ACTIVE))
        .orderBy(asc(templates.slug), desc(templates.version), OWN_FIRST),

    /** Without a version the latest active one; with one that one, archived or not. */
    async find(customerId: string, slug: string, version?: number): Promise<TemplateRow | undefined> {
      const [row] = await db.orm
        .select()
        .from(templates)
        // Compared as bigint a number too large for the column is simply unknown.
        .where(
          and(seen(customerId, slug), version === undefined ? ACTIVE : sql`${templates.version} = ${version}::bigint`),
        )
        .orderBy(desc(templates.version), OWN_FIRST)
        .limit(1);
      return row;
    },

    listVersions: (customerId: string, slug: string) =>
      db.orm
        .selectDistinctOn([templates.version], { ...OUTLINE, createdAt: templates.createdAt })
        .from(templates)
        .where(seen(customerId, slug))
        .orderBy(desc(templates.version), OWN_FIRST),

    /** @throws Problem version_exists, workspace_archived */
    create: (customerId: string, spec: WorkflowSpec, metadata: TemplateMetadata): Promise<TemplateRow> =>
      makingVersions(customerId, spec.slug, async () => {
        const sameVersion = and(seen(customerId, spec.slug), eq(templates.version, spec.version));
        if ((await db.orm.$count(templates, sameVersion)) > 0) {
          throw new Problem('version_exists', `version ${spec.version} of ${spec.slug} exists`);
        }
        return insert({ ...rowOf(spec, metadata), customerId });
      }),

    /**
     * Makes the version after the latest there is; what is not said about it is as with the one before.
     * @throws Problem not_found, workspace_archived
     */
    createNext: (customerId: string, spec: WorkflowSpec, metadata: TemplateMetadata): Promise<TemplateRow> =>
      makingVersions(customerId, spec.slug, async () => {
        const [row] = await db.orm
          .select(OUTLINE)
          .from(templates)
          .where(seen(customerId, spec.slug))
          .orderBy(desc(templates.version), OWN_FIRST)
          .limit(1);
        const { version, collection, tags, description } = found(row);
        const inherited = { collection, tags, description: spec.description ?? description };
        return insert({ ...rowOf({ ...spec, version: version + 1 }, { ...inherited, ...metadata }), customerId });
      }),

    /** Changes the latest active version that is the workspace's own, if there is one. */
    async changeLatest(customerId: string, slug: string, metadata: TemplateMetadata): Promise<TemplateRow | undefined> {
      const own = db.orm
        .select({ id: templates.id })
        .from(templates)
        .where(and(ownOf(customerId, slug), ACTIVE))
        .orderBy(desc(templates.version))
        .limit(1);
      const [changed] = await db.orm
        .update(templates)
        .set({ ...metadata, updatedAt: sql`now()` })
        .where(and(eq(templates.id, own), ACTIVE))
        .returning();
      return changed;
    },

    async archive(customerId: string, slug: string): Promise<void> {
      await db.orm
        .update(templates)
        .set({ status: 'archived', updatedAt: sql`now()` })
        .where(and(ownOf(customerId, slug), ACTIVE));
    },

    /** Adds the versions that are missing and changes none. Safe to repeat, and from several processes at once. */
    async seedBuiltins(builtins: readonly BuiltinTemplate[]): Promise<void> {
      if (builtins.length === 0) return;
      await db.orm
        .insert(templates)
        .values(builtins.map(({ spec, collection, tags }) => rowOf(spec, { collection, tags })))
        .onConflictDoNothing();
    },
  };
};

/** Selects `name` and `created_at` of the workflows of a workspace, by the first of their versions. */
export const namedWorkflows = (customerId: string): SQL => sql`
  select slug as name, min(created_at) as created_at from templates
  where customer_id = ${customerId} and status = 'active' group by slug`;
