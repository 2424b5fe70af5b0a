/** What surrounds each call of a tool that the service serves over MCP: for whom it counts, and what its caller may see. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { servedTools } from '../../src/mcp-server/tools.ts';
import { createPageKeys } from '../../src/platform/core/page-keys.ts';
import { first, present } from '../../src/platform/core/present.ts';
import { keyStanding, type Role } from '../../src/platform/core/rights.ts';
import { currentWorkspace } from '../../src/platform/fairness/workspace-context.ts';
import { endpoints } from '../support/http/endpoints.ts';

const pageKeys = createPageKeys('secret');
const page = { customerId: 'acme', pageId: '0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f' };
const KEYED = `/miniapps/${pageKeys.tokenOf(page)}`;
const audit = { open: async () => [], close: async () => {}, withdraw: async () => {} };

/** Each endpoint replies with its workspace, and with the address of a page with its key. */
const routes = endpoints.map((endpoint) => ({
  endpoint: { ...endpoint, reply: z.object({ workspace: z.string(), page: z.string(), data: z.tuple([]) }) },
  handler: async () => ({ workspace: currentWorkspace(), page: KEYED, data: [] }),
}));
const tools = servedTools(routes, { audit, pageKeys });

const callAs = (makerRole: Role, name: string, args = {}) =>
  present(tools.find((tool) => tool.name === name)).call(
    { workspaceId: 'acc_acme', customerId: 'acme', actor: 'api-key:1', standing: keyStanding(makerRole) },
    args,
  );

// Guards: calls over MCP queue with the requests of their workspace, and the key of a viewer is told no working address.
test.each(['list_agents', 'list_workflows'])(
  '%s counts for its workspace, and is redacted for viewers',
  async (name) => {
    expect(await callAs('member', name)).toEqual({ workspace: 'acme', page: KEYED, data: [] });
    expect(await callAs('viewer', name)).toEqual({ workspace: 'acme', page: '/miniapps/***', data: [] });
  },
);

const Schema = z.object({
  type: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  format: z.string().optional(),
  minimum: z.number().default(0),
  get anyOf() {
    return z.array(Schema).optional();
  },
});
type Schema = z.output<typeof Schema>;
const InputSchema = z.object({ properties: z.record(z.string(), Schema), required: z.array(z.string()).default([]) });

/** A value of this schema, as a client that knows nothing else would make it. */
function sampleOf({ type, anyOf, enum: values, format, minimum }: Schema): unknown {
  if (anyOf) return sampleOf(first(anyOf));
  if (values) return first(values);
  if (type === 'integer') return Math.max(minimum, 1);
  return format === 'uuid' ? page.pageId : 'text';
}

// Guards: a client that sends what the schema of a tool requires is not told that something is missing, and one that
// leaves any of it out is.
test.each(tools.map((tool) => [tool.name, tool] as const))(
  '%s says what it requires',
  async (name, { inputSchema }) => {
    const { properties, required } = InputSchema.parse(inputSchema);
    const args = Object.fromEntries(required.map((field) => [field, sampleOf(present(properties[field]))]));
    expect(await callAs('member', name, args)).toEqual({ workspace: 'acme', page: KEYED, data: [] });
    for (const field of required) {
      const { [field]: _, ...rest } = args;
      await expect(callAs('member', name, rest)).rejects.toMatchObject({
        code: expect.stringMatching(/validation|bad_request/),
      });
    }
  },
);
