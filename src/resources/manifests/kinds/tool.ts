/** Manifests of custom tools. What may be a secret in one is named, and not written: see `secrets.ts`. */
import { z } from 'zod';
import { isOneOf } from '../../../platform/core/one-of.ts';
import { last } from '../../../platform/core/present.ts';
import { Problem } from '../../../platform/core/problem.ts';
import { fieldsOf, isRecord } from '../../../platform/core/record.ts';
import type { WorkspaceStore } from '../../workspaces/store/index.ts';
import { TOOL_KINDS } from '../../tools/model.ts';
import { NewTool } from '../../tools/contract.ts';
import type { ToolRegistry } from '../../tools/registry.ts';
import type { ToolService } from '../../tools/service.ts';
import type { ToolDefinition, ToolStore } from '../../tools/store.ts';
import { defineKind, shaped, type Kind } from '../kind.ts';
import type { ManifestContent } from '../model.ts';

const of = NewTool.shape;
const Given = z.strictObject({
  slug: of.slug,
  description: of.description,
  kind: of.kind,
  schema: of.schema.default({ type: 'object', properties: {} }),
  body: of.body,
  shape: of.shape,
  access: of.access.unwrap().default('both'),
  integration: of.integration.unwrap().default(null),
  effect: of.effect,
  sensitive: of.sensitive,
});
const ToolManifest = Given.meta({ title: 'A custom tool' });
type ToolManifest = ToolDefinition & { slug: string };

interface Dependencies {
  customTools: Pick<
    ToolService,
    | 'define'
    | 'isShipped'
    | 'isSecret'
    | 'secretFieldsOf'
    | 'receiverOf'
    | 'isSameReceiver'
    | 'originOf'
    | 'integrationFault'
  >;
  /** All that agents can be given. */
  tools: Pick<ToolRegistry, 'find' | 'list'>;
  store: Pick<ToolStore, 'list' | 'find' | 'count' | 'insert' | 'change' | 'delete'>;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
}

const manifestOf = (slug: string, tool: ToolDefinition): ToolManifest => ({
  slug,
  description: tool.description,
  kind: tool.kind,
  schema: tool.schema,
  body: tool.body,
  shape: tool.shape,
  access: tool.access,
  integration: tool.integration,
  effect: tool.effect,
  sensitive: tool.sensitive,
});

const bodyOf = ({ body, schema }: ManifestContent) => ({ body: fieldsOf(body), schema: fieldsOf(schema) });

export const toolKind = ({ customTools, tools, store, workspaces }: Dependencies): Kind =>
  defineKind<ToolManifest>({
    kind: 'tool',
    shape: ToolManifest,
    nameField: 'slug',
    secrets: {
      isPlace: ([top, field], { kind }) =>
        top === 'body' &&
        field !== undefined &&
        isOneOf(TOOL_KINDS, kind) &&
        customTools.secretFieldsOf(kind).includes(field),
      isSecret: (path, value) => path.length === 3 && customTools.isSecret(last(path), value),
      receiverOf: ({ kind, body }) =>
        isOneOf(TOOL_KINDS, kind) && isRecord(body) ? customTools.receiverOf(kind, body) : undefined,
      isSameReceiver: (before, { kind, ...after }) =>
        before['kind'] === kind &&
        isOneOf(TOOL_KINDS, kind) &&
        customTools.isSameReceiver(kind, bodyOf(before), bodyOf(after)),
    },
    defaults: { access: 'both', integration: null },
    async read(content) {
      const read = shaped(Given, content);
      if ('faults' in read) return read;
      const { slug, ...given } = read.manifest;
      return customTools.define(given).then(
        (definition) => ({ manifest: manifestOf(slug, definition) }),
        (error: unknown) => {
          if (!(error instanceof Problem) || error.code !== 'bad_request') throw error;
          return { faults: [{ path: [], message: error.message }] };
        },
      );
    },
    async known(customerId, names) {
      const manifests: ToolManifest[] = [];
      for (const { slug } of await store.list(customerId)) {
        const tool = (names?.has(slug) ?? true) ? await store.find(customerId, slug) : undefined;
        if (tool) manifests.push(manifestOf(slug, tool));
      }
      return manifests;
    },
    existing: async (customerId, names) => new Set((await tools.find(customerId, names)).map(({ slug }) => slug)),
    suggestions: async (customerId) => (await tools.list(customerId)).map(({ slug }) => slug),
    references: () => [],
    credentialOf({ kind, body, integration }) {
      const to = customTools.originOf(kind, body);
      return integration === null || to === undefined ? undefined : { path: `token of ${integration}`, to };
    },
    async check(customerId, { slug, ...tool }) {
      const fault = await customTools.integrationFault(customerId, tool);
      return [
        ...((await customTools.isShipped(customerId, slug))
          ? [{ path: ['slug'], message: `${slug} is built in: give yours another slug` }]
          : []),
        ...(fault ? [{ path: ['body', 'url'], message: fault }] : []),
      ];
    },
    prepare:
      async ({ customerId }, manifest, before) =>
      async () => {
        const { slug, ...given } = manifest;
        const tool = await customTools.define(given);
        if (before) await store.change(customerId, slug, () => tool);
        else {
          await workspaces.underCap(
            customerId,
            'custom_tools',
            () => store.count(customerId),
            () => store.insert(customerId, slug, tool),
          );
        }
      },
    remove:
      ({ customerId }, slug) =>
      async () =>
        void (await store.delete(customerId, slug)),
  });
