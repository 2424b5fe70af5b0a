/**
 * What a workspace can do with tools: see all that its agents can be given, and make, change and delete its own.
 *
 * A custom tool is checked as a whole whenever it is written, so what a run finds can be called. Tools that ship and
 * those of MCP servers come first under their slugs and are never written.
 */
import { present } from '../../platform/core/present.ts';
import { keptSecretFault } from '../../platform/core/http-origin.ts';
import { Problem } from '../../platform/core/problem.ts';
import { storableText } from '../../platform/core/storable.ts';
import { originFault, type TokenOrigins } from '../integrations/model.ts';
import type { References } from '../references/service.ts';
import type { WorkspaceStore } from '../workspaces/store/index.ts';
import { adaptationOf, schemaProblem } from './arguments.ts';
import type { NewTool, ToolChange } from './contract.ts';
import type { CustomKinds, ToolBody } from './custom/kind.ts';
import { isSecret, keptSecrets, maskIn, maskSecrets, unmaskSecrets } from './custom/secrets.ts';
import { categoryOf, CUSTOM_MODULE, paramNames, type CustomTool, type Tool, type ToolKind } from './model.ts';
import { slugOf, type ListedServer } from './mcp.ts';
import { previewOf } from './preview.ts';
import type { ToolRegistry } from './registry.ts';
import type { ToolDefinition, ToolStore } from './store.ts';

export type ToolService = ReturnType<typeof createToolService>;

interface ToolServiceDependencies {
  store: ToolStore;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
  references: Pick<References, 'requireUnused'>;
  /** The tools that no workspace made. */
  shipped: Pick<ToolRegistry, 'get' | 'list'>;
  mcpServers: (customerId: string) => Promise<ListedServer[]>;
  kinds: CustomKinds;
  isIntegration: (slug: string) => boolean;
  /** @returns where the token of an integration may go */
  tokenOrigins: (customerId: string, slug: string) => Promise<TokenOrigins>;
  /** @returns how many built-in skills declare the tool */
  builtinUses: (slug: string) => number;
  /** Says that built-in tools are shown without their place in the code. */
  publicVisibility: boolean;
}

export const createToolService = (dependencies: ToolServiceDependencies) => {
  const { store, workspaces, references, shipped, kinds, isIntegration, tokenOrigins, builtinUses, publicVisibility } =
    dependencies;

  const isShipped = async (customerId: string, slug: string): Promise<boolean> =>
    (await shipped.get(customerId, slug)) !== undefined;

  /** @throws Problem bad_request */
  async function checkSchema(schema: ToolDefinition['schema']): Promise<void> {
    const fault = await schemaProblem(schema);
    if (fault) throw new Problem('bad_request', fault);
  }

  /** Checks everything but the schema. @throws Problem bad_request */
  function checkDefinition(tool: ToolDefinition): void {
    const { kind, schema, body, integration } = tool;
    const mask = maskIn(body, kinds[kind].secretFields);
    const fault =
      kinds[kind].checkBody({ schema, body }) ??
      (mask && `body.${mask}: the mask stands for no secret here; send the value`) ??
      (integration !== null && !isIntegration(integration) ? `integration: there is no "${integration}"` : undefined);
    if (fault) throw new Problem('bad_request', fault);
  }

  /** @returns why the integration of a tool cannot authorize it: its token is for other addresses */
  async function integrationFault(customerId: string, { kind, body, integration }: ToolDefinition) {
    const origin = kinds[kind].originOf(body);
    if (integration === null || origin === undefined) return undefined;
    return originFault(integration, await tokenOrigins(customerId, integration), origin);
  }

  /** @throws Problem bad_request */
  async function checkIntegration(customerId: string, tool: ToolDefinition): Promise<void> {
    const fault = await integrationFault(customerId, tool);
    if (fault) throw new Problem('bad_request', `body.url: ${fault}`);
  }

  /** @returns the whole definition, with what was left out. @throws Problem bad_request */
  async function define(given: Omit<NewTool, 'slug'>): Promise<ToolDefinition> {
    const tool: ToolDefinition = {
      access: 'both',
      integration: null,
      ...kinds[given.kind].defaultsOf(given.body),
      ...given,
      schema: ofTypeObject(given.schema),
    };
    await checkSchema(tool.schema);
    checkDefinition(tool);
    return tool;
  }

  /** @throws Problem builtin_immutable where the slug is that of a tool which ships, else not_found */
  async function refuse(customerId: string, slug: string): Promise<never> {
    if (!(await isShipped(customerId, slug))) throw new Problem('not_found');
    throw new Problem('builtin_immutable', `${slug} is built in and cannot be changed or deleted`);
  }

  async function detailOf(customerId: string, slug: string) {
    const tool = await shipped.get(customerId, slug);
    const custom = tool ? undefined : await store.find(customerId, slug);
    if (!tool && !custom) throw new Problem('not_found');
    const usedBy = builtinUses(slug) + ((await store.countUses(customerId, slug)).get(slug) ?? 0);
    const invocations = (await store.listInvocations(customerId, slug)).map((call) => ({
      id: `${call.runId}:${call.callId}`,
      ts: call.createdAt,
      run_id: call.runId,
      agent: call.agent,
      transport: call.transport,
      params_preview: previewOf(call.arguments),
    }));
    return {
      ...(tool
        ? { ...shippedRow(tool, usedBy), id: null, params_schema: tool.parameters }
        : { ...customRow(present(custom), usedBy), ...customRest(present(custom)) }),
      unavailable: tool?.unavailable ?? null,
      adapted: adaptationOf(tool ?? { parameters: present(custom).schema }) ?? null,
      recent_invocations: invocations,
    };
  }

  const shippedRow = (tool: Tool, usedBy: number) => ({
    slug: tool.slug,
    description: tool.description,
    module: publicVisibility ? '' : tool.module,
    category: categoryOf(tool.module),
    sensitive: tool.sensitive,
    ...params(tool.parameters),
    is_builtin: true,
    used_by: usedBy,
  });

  const customRest = (tool: CustomTool) => ({
    id: tool.id,
    params_schema: tool.schema,
    schema: tool.schema,
    body: maskSecrets(tool.body, kinds[tool.kind].secretFields),
    integration: tool.integration,
    effect: tool.effect,
  });

  return {
    async list(customerId: string) {
      const builtin = await shipped.list(customerId);
      const taken = new Set(builtin.map(({ slug }) => slug));
      const custom = (await store.list(customerId)).filter(({ slug }) => !taken.has(slug));
      const uses = await store.countUses(customerId);
      const usedBy = ({ slug }: { slug: string }) => builtinUses(slug) + (uses.get(slug) ?? 0);
      return {
        data: [
          ...builtin.map((tool) => shippedRow(tool, usedBy(tool))),
          ...custom.map((tool) => customRow(tool, usedBy(tool))),
        ],
        meta: { total: builtin.length + custom.length, builtin: builtin.length, custom: custom.length },
      };
    },

    async listMcpServers(customerId: string) {
      const data = (await dependencies.mcpServers(customerId)).map(serverRow);
      return { data, meta: { total: data.length } };
    },

    detail: detailOf,

    define,
    isShipped,
    isSecret,
    secretFieldsOf: (kind: ToolKind): readonly string[] => kinds[kind].secretFields,
    receiverOf: (kind: ToolKind, body: CustomTool['body']): string | undefined => kinds[kind].receiverOf(body),
    originOf: (kind: ToolKind, body: CustomTool['body']): string | undefined => kinds[kind].originOf(body),
    isSameReceiver: (kind: ToolKind, before: ToolBody, after: ToolBody): boolean =>
      kinds[kind].isSameReceiver(before, after),
    integrationFault,

    /** @throws Problem bad_request, slug_taken, plan_limit_exceeded, workspace_archived */
    async create(customerId: string, { slug, ...given }: NewTool) {
      const tool = await define(given);
      await checkIntegration(customerId, tool);
      if (await isShipped(customerId, slug)) throw new Problem('slug_taken');
      await workspaces.underCap(
        customerId,
        'custom_tools',
        () => store.count(customerId),
        () => store.insert(customerId, slug, tool),
      );
      return detailOf(customerId, slug);
    },

    /** @throws Problem bad_request, builtin_immutable, not_found */
    async update(customerId: string, slug: string, change: ToolChange) {
      if (Object.keys(change).length === 0) {
        throw new Problem('bad_request', `nothing to change: send at least one of ${CHANGEABLE.join(', ')}`);
      }
      if (!(await store.find(customerId, slug))) await refuse(customerId, slug);
      if (change.schema) await checkSchema(ofTypeObject(change.schema));
      await store.change(customerId, slug, async (tool) => {
        const changed = changedBy(tool, change, kinds);
        checkDefinition(changed);
        checkReceiver(tool, change, changed, kinds);
        await checkIntegration(customerId, changed);
        return changed;
      });
      return detailOf(customerId, slug);
    },

    /** @throws Problem builtin_immutable, not_found */
    async delete(customerId: string, slug: string, force: boolean): Promise<void> {
      if (!(await store.find(customerId, slug))) await refuse(customerId, slug);
      if (!force) await references.requireUnused(customerId, 'tool', slug);
      if (!(await store.delete(customerId, slug))) await refuse(customerId, slug);
    },
  };
};

const CHANGEABLE = [
  ...['description', 'kind', 'schema', 'body', 'shape'],
  ...['access', 'integration', 'effect', 'sensitive'],
] as const;

/** Providers demand a type, and where it is left out it can be no other. */
const ofTypeObject = (schema: CustomTool['schema']): CustomTool['schema'] =>
  schema['type'] === undefined ? { type: 'object', ...schema } : schema;

/**
 * A setting that was never chosen follows the new kind and body: a GET that becomes a POST is not repeated any more.
 */
function changedBy(tool: CustomTool, change: ToolChange, kinds: CustomKinds): ToolDefinition {
  const { customerId: _customerId, slug: _slug, id: _id, version: _version, ...before } = tool;
  const kind = change.kind ?? before.kind;
  const secretFields = kind === before.kind ? kinds[kind].secretFields : [];
  const body = change.body ? unmaskSecrets(change.body, before.body, secretFields) : before.body;
  const defaultsBefore = kinds[before.kind].defaultsOf(before.body);
  const defaults = kinds[kind].defaultsOf(body);
  const unchosen = (Object.keys(defaults) as (keyof typeof defaults)[]).filter(
    (name) => before[name] === defaultsBefore[name],
  );
  return {
    ...before,
    ...Object.fromEntries(unchosen.map((name) => [name, defaults[name]])),
    ...change,
    kind,
    body,
    schema: ofTypeObject(change.schema ?? before.schema),
  };
}

/** @throws Problem bad_request if a secret that is kept would be given to another receiver */
function checkReceiver(before: CustomTool, change: ToolChange, after: ToolDefinition, kinds: CustomKinds): void {
  const { isSameReceiver, receiverOf, secretFields } = kinds[after.kind];
  const body = change.body ?? maskSecrets(before.body, secretFields);
  const [kept] = keptSecrets(body, before.body, secretFields);
  if (kept === undefined || isSameReceiver(before, after)) return;
  throw new Problem('bad_request', `body.${kept}: ${keptSecretFault(receiverOf(before.body))}`);
}

const serverRow = ({ name: server, owner, state }: ListedServer) => ({
  name: server,
  owner,
  state: state.down === undefined ? ('connected' as const) : ('failed' as const),
  since: state.since,
  reason: state.reason === undefined ? null : storableText(state.reason),
  tools: state.tools.map(({ name, description, adapted = null }) => ({
    slug: slugOf(server, name),
    description: storableText(description.slice(0, MAX_DESCRIPTION_LENGTH)),
    adapted,
  })),
  left_out: state.leftOut.map(({ name, reason }) => ({
    name: storableText(name.slice(0, MAX_NAME_LENGTH)),
    reason: storableText(reason),
  })),
});

const MAX_NAME_LENGTH = 200;
const MAX_DESCRIPTION_LENGTH = 4_000;

const params = (schema: Record<string, unknown>) => {
  const names = paramNames(schema);
  return { param_names: names, param_count: names.length };
};

const customRow = (tool: Omit<CustomTool, 'body'>, usedBy: number) => ({
  slug: tool.slug,
  description: tool.description,
  module: CUSTOM_MODULE,
  category: categoryOf(CUSTOM_MODULE),
  sensitive: tool.sensitive,
  ...params(tool.schema),
  is_builtin: false,
  used_by: usedBy,
  kind: tool.kind,
  shape: tool.shape,
  access: tool.access,
  owner_customer_id: tool.customerId,
  version: String(tool.version),
});
