/**
 * Looks at what things name. A reference that names nothing is accepted, because what it names may be made later; whoever
 * saves it is warned. What others name is deleted only if the caller insists.
 */
import { nearest } from '../../platform/core/nearest.ts';
import { Problem } from '../../platform/core/problem.ts';
import { unusedModel } from '../../platform/models/resolve.ts';
import { configuredProviders } from '../../platform/models/catalogue.ts';
import { ModelFailure, type ModelCredentials, type ModelRequest, type Models } from '../../platform/models/types.ts';
import type { SlugReference, UsedKind, Warning } from './model.ts';
import type { ReferenceStore, User } from './store.ts';

export type References = ReturnType<typeof createReferences>;

interface ReferenceDependencies {
  store: ReferenceStore;
  agents: { listAgents: (customerId: string) => Promise<readonly { slug: string }[]> };
  /** Those that agents can call. */
  tools: {
    find: (customerId: string, slugs: readonly string[]) => Promise<readonly { slug: string; unavailable?: string }[]>;
    list: (customerId: string) => Promise<readonly { slug: string }[]>;
  };
  models: Pick<Models, 'credentials' | 'resolve' | 'catalogue'>;
  modelCredentials: (customerId: string) => Promise<ModelCredentials>;
}

/** A refusal names so many of what uses a thing. */
const MAX_USERS = 20;

export const createReferences = ({ store, agents, tools, models, modelCredentials }: ReferenceDependencies) => {
  async function agentWarnings(customerId: string, references: readonly SlugReference[]): Promise<Warning[]> {
    if (references.length === 0) return [];
    const known = (await agents.listAgents(customerId)).map(({ slug }) => slug);
    return references
      .filter(({ slug }) => !known.includes(slug))
      .map(({ path, slug }) => ({ path, code: 'unknown_agent', message: unknown('agent', slug, known) }));
  }

  async function toolWarnings(customerId: string, references: readonly SlugReference[]): Promise<Warning[]> {
    if (references.length === 0) return [];
    const slugs = references.map(({ slug }) => slug);
    const found = new Map((await tools.find(customerId, slugs)).map((tool) => [tool.slug, tool]));
    const isAllThere = slugs.every((slug) => found.has(slug));
    const known = isAllThere ? [] : (await tools.list(customerId)).map(({ slug }) => slug);
    return references.flatMap(({ path, slug }): Warning[] => {
      const tool = found.get(slug);
      if (!tool) return [{ path, code: 'unknown_tool', message: unknown('tool', slug, known) }];
      const { unavailable } = tool;
      return unavailable === undefined ? [] : [{ path, code: 'tool_unavailable', message: unavailable }];
    });
  }

  return {
    /** @returns the part of a reply that says what of this does not work as it is; empty if all does */
    async warningsFor(
      customerId: string,
      references: readonly SlugReference[],
      model?: { path: string; request: Omit<ModelRequest, 'prompt'> },
    ): Promise<{ warnings?: Warning[] }> {
      const ofKind = (kind: SlugReference['kind']) => references.filter((reference) => reference.kind === kind);
      const warnings = [
        ...(await agentWarnings(customerId, ofKind('agent'))),
        ...(await toolWarnings(customerId, ofKind('tool'))),
      ];
      const missed =
        model && unusedModel(model.request, models.credentials(await modelCredentials(customerId)), models.catalogue());
      if (model && missed !== undefined) warnings.push({ path: model.path, code: 'model_not_used', message: missed });
      return warnings.length > 0 ? { warnings } : {};
    },

    /** Refuses models that nobody could call. @throws Problem validation */
    async requireCallable(customerId: string, field: string, ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return;
      const credentials = models.credentials(await modelCredentials(customerId));
      const faults = ids.flatMap((override, index) => {
        try {
          models.resolve({ model: 'auto', override, prompt: '' }, credentials);
          return [];
        } catch (error) {
          if (!(error instanceof ModelFailure)) throw error;
          const known = configuredProviders(credentials).join(', ');
          const msg = `${error.message} Models of these providers can be called: ${known}.`;
          return [{ loc: ['body', field, index], msg, type: error.code }];
        }
      });
      if (faults.length > 0) throw new Problem('validation', faults);
    },

    /** @throws Problem in_use */
    async requireUnused(customerId: string, kind: UsedKind, slug: string): Promise<void> {
      const [users, total] = await store.usersOf(customerId, kind, slug, MAX_USERS);
      if (total === 0) return;
      const message = `the ${kind} ${slug} is used by ${told(users, total)}; \`force\` deletes it all the same`;
      throw new Problem('in_use', { code: 'in_use', message, used_by: users, total });
    },
  };
};

function unknown(kind: SlugReference['kind'], slug: string, known: readonly string[]): string {
  const near = nearest(slug, known);
  const what = kind === 'tool' ? 'tool that agents can call' : kind;
  return `there is no ${what} named "${slug}"${near === undefined ? '' : `; did you mean "${near}"?`}`;
}

const MAX_TOLD = 3;
function told(users: readonly User[], total: number): string {
  const first = users.slice(0, MAX_TOLD).map(({ kind, name }) => `the ${kind} ${name}`);
  return total > MAX_TOLD ? `${first.join(', ')} and ${total - MAX_TOLD} more` : first.join(', ');
}
