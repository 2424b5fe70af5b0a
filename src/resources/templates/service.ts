/**
 * What a workspace can do with workflow templates: read its own and the built-in ones, make versions, describe and
 * archive its own. A version is never changed in what it does, because projects are pinned to it.
 */
import { present } from '../../platform/core/present.ts';
import { Problem } from '../../platform/core/problem.ts';
import { found } from '../../platform/db/client.ts';
import { builtinTemplates } from './builtin/index.ts';
import type { NewTemplate, TemplateChange, TemplateFilter } from './contract.ts';
import type { JsonSchema, StepSpec, WorkflowSpec } from './model.ts';
import { parseSpec, readSpec } from './spec.ts';
import type { TemplateMetadata, TemplateRow, TemplateStore } from './store.ts';

export type TemplateService = ReturnType<typeof createTemplateService>;

const MAX_UNRESOLVED = 20;

interface TemplateServiceDependencies {
  store: TemplateStore;
  agentExists: (customerId: string, slug: string) => Promise<boolean>;
  tools: { find: (customerId: string, slugs: readonly string[]) => Promise<readonly { slug: string }[]> };
  /** @returns those of these slugs that are skills */
  skillExists: (customerId: string, slugs: readonly string[]) => Promise<ReadonlySet<string>>;
  /** An action step can name these. */
  actionNames: readonly string[];
}

export const createTemplateService = (dependencies: TemplateServiceDependencies) => {
  const { store, agentExists, tools, skillExists, actionNames } = dependencies;

  /** @returns faults such as `phases[0].steps[1]: no agent "x"`; empty where every step can be carried out */
  async function unresolvedBindings(customerId: string, spec: WorkflowSpec): Promise<string[]> {
    const steps = spec.phases.flatMap((phase, phaseAt) =>
      phase.steps.map((step, stepAt) => ({ step, path: `phases[${phaseAt}].steps[${stepAt}]` })),
    );
    const named = (field: 'tools' | 'skills') => [...new Set(steps.flatMap(({ step }) => step[field] ?? []))];
    const knownTools = new Set((await tools.find(customerId, named('tools'))).map(({ slug }) => slug));
    const knownSkills = await skillExists(customerId, named('skills'));
    const agents = new Map<string, boolean>();
    const isAgent = async (slug: string): Promise<boolean> => {
      if (!agents.has(slug)) agents.set(slug, await agentExists(customerId, slug));
      return present(agents.get(slug));
    };

    const unresolved: string[] = [];
    for (const { step, path } of steps) {
      if (unresolved.length >= MAX_UNRESOLVED) break;
      for (const what of [
        ...(await unknownAssignee(step, isAgent)),
        ...unknownAmong('tool', step.tools, knownTools),
        ...unknownAmong('skill', step.skills, knownSkills),
        ...(isUnequipped(step) ? ['an agent step needs at least one tool or skill'] : []),
      ]) {
        unresolved.push(`${path}: ${what}`);
      }
    }
    return unresolved.slice(0, MAX_UNRESOLVED);
  }

  async function unknownAssignee(step: StepSpec, isAgent: (slug: string) => Promise<boolean>): Promise<string[]> {
    const { kind, assignee = '' } = step;
    switch (kind) {
      case 'agent':
        return (await isAgent(assignee)) ? [] : [`no agent "${assignee}"`];
      case 'action':
        return actionNames.includes(assignee) ? [] : [`no action "${assignee}"`];
      case 'gate':
        return [];
    }
  }

  async function requireBindings(customerId: string, spec: WorkflowSpec): Promise<void> {
    const unresolved = await unresolvedBindings(customerId, spec);
    if (unresolved.length === 0) return;
    throw new Problem('bad_request', `template has unresolvable step bindings: ${unresolved.join('; ')}`);
  }

  /**
   * @throws Problem not_found where nothing of this slug is visible, builtin_immutable where all that counts ships with
   * the product
   */
  async function requireOwn(customerId: string, slug: string, counts: (row: TemplateState) => boolean) {
    const versions = await store.listVersions(customerId, slug);
    if (versions.length === 0) throw new Problem('not_found');
    const counted = versions.filter(counts);
    if (counted.length > 0 && counted.every(isBuiltin)) {
      const help = 'to make a version of your own, PATCH it with a spec';
      throw new Problem('builtin_immutable', `${slug} is built in and cannot be changed or deleted; ${help}`);
    }
  }

  async function createNext(customerId: string, slug: string, given: object, metadata: TemplateMetadata) {
    // It is called before the spec is looked at, so that a foreign workflow answers as an unknown one whatever is sent.
    await requireVisible(customerId, slug);
    const spec = await parseSpec({ ...given, version: 1 });
    if (spec.slug !== slug) {
      throw new Problem('bad_request', `invalid spec: slug: must be ${slug}, the workflow that it is a version of`);
    }
    await requireBindings(customerId, spec);
    return store.createNext(customerId, spec, metadata);
  }

  const requireVisible = async (customerId: string, slug: string): Promise<void> => {
    if ((await store.listVersions(customerId, slug)).length === 0) throw new Problem('not_found');
  };

  return {
    unresolvedBindings,
    readSpec,

    async listStartable(customerId: string) {
      const rows = await store.listStartable(customerId);
      const data = rows.map(({ params, ...row }) => ({ ...row, required_params: requiredParams(params ?? {}) }));
      return { data, meta: { total: data.length } };
    },

    async list(customerId: string, filter: TemplateFilter) {
      const rows = await store.list(customerId, filter);
      return { data: rows.map(wireRow), meta: { total: rows.length } };
    },

    get: async (customerId: string, slug: string, version?: number) =>
      wireDetail(found(await store.find(customerId, slug, version))),

    async versions(customerId: string, slug: string) {
      const rows = await store.listVersions(customerId, slug);
      found(rows[0]);
      const data = rows.map((row) => ({ ...wireRow(row), created_at: row.createdAt }));
      return { data, meta: { total: data.length } };
    },

    async create(customerId: string, { spec: given, ...body }: NewTemplate) {
      const spec = await parseSpec(given);
      await requireBindings(customerId, spec);
      return wireDetail(await store.create(customerId, spec, metadataOf(body)));
    },

    async update(customerId: string, slug: string, { spec, ...body }: TemplateChange) {
      const metadata = metadataOf(body);
      if (spec) return wireDetail(await createNext(customerId, slug, spec, metadata));
      if (Object.keys(metadata).length === 0) {
        throw new Problem('bad_request', 'nothing to update: send at least one of collection, tags, description, spec');
      }
      const changed = await store.changeLatest(customerId, slug, metadata);
      if (!changed) await requireOwn(customerId, slug, ({ status }) => status === 'active');
      return wireDetail(found(changed));
    },

    async delete(customerId: string, slug: string): Promise<void> {
      await requireOwn(customerId, slug, () => true);
      await store.archive(customerId, slug);
    },

    /** @returns what a project of this workflow is expanded from; undefined where it is unknown or archived */
    async resolveForProject(
      customerId: string,
      slug: string,
      version?: number,
    ): Promise<Pick<TemplateRow, 'version' | 'name' | 'spec'> | undefined> {
      const row = await store.find(customerId, slug, version);
      return row?.status === 'active' ? { version: row.version, name: row.name, spec: row.spec } : undefined;
    },

    /** Templates that ship are in the database too, so that an old version stays when a release brings a new one. */
    seed: () => store.seedBuiltins(builtinTemplates),
  };
};

const isBuiltin = ({ customerId }: Pick<TemplateRow, 'customerId'>): boolean => customerId === null;
type TemplateState = Pick<TemplateRow, 'customerId' | 'status'>;

const unknownAmong = (what: string, slugs: readonly string[] = [], known: ReadonlySet<string>): string[] =>
  slugs.filter((slug) => !known.has(slug)).map((slug) => `no ${what} "${slug}"`);

/** An agent without anything in its hands can only talk. */
export const isUnequipped = ({ kind, tools = [], skills = [] }: StepSpec): boolean =>
  kind === 'agent' && tools.length + skills.length === 0;

/** @returns the columns that were sent, and no others */
const metadataOf = ({ collection, tags, description }: Omit<TemplateChange, 'spec'>): TemplateMetadata => ({
  ...(collection !== undefined && { collection }),
  ...(tags && { tags: [...new Set(tags)] }),
  ...(description !== undefined && { description }),
});

function requiredParams({ required, properties }: JsonSchema) {
  const names = Array.isArray(required) ? [...new Set(required.map(String))] : [];
  return names.map((name) => {
    const known = typeof properties === 'object' && properties !== null && Object.hasOwn(properties, name);
    const { type, description }: JsonSchema = known ? { ...(properties as Record<string, JsonSchema>)[name] } : {};
    return {
      name,
      type: type === undefined ? 'any' : [type].flat().join(' | '),
      description: typeof description === 'string' ? description : '',
    };
  });
}

const wireRow = (row: Omit<TemplateRow, 'id' | 'spec' | 'createdAt'>) => ({
  slug: row.slug,
  version: row.version,
  name: row.name,
  description: row.description,
  collection: row.collection,
  tags: row.tags,
  phase_count: row.phaseCount,
  is_builtin: isBuiltin(row),
  status: row.status,
  updated_at: row.updatedAt,
});

const wireDetail = (row: TemplateRow) => ({ ...wireRow(row), spec: { ...row.spec }, created_at: row.createdAt });
