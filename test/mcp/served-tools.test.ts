/** What surrounds each call of a tool that the service serves over MCP: for whom it counts, and what its caller may see. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { servedTools } from '../../src/mcp-server/tools.ts';
import { createPageKeys } from '../../src/platform/core/page-keys.ts';
import { present } from '../../src/platform/core/present.ts';
import { keyStanding, type Role } from '../../src/platform/core/rights.ts';
import { currentWorkspace } from '../../src/platform/fairness/workspace-context.ts';
import { endpoints } from '../support/http/endpoints.ts';

const pageKeys = createPageKeys('secret');
const page = { customerId: 'acme', pageId: '0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f' };
const KEYED = `/miniapps/${pageKeys.tokenOf(page)}`;
const audit = { open: async () => [], close: async () => {}, withdraw: async () => {} };

/** Each endpoint replies with its workspace, and with the address of a page as an earlier release stored it. */
const routes = endpoints.map((endpoint) => ({
  endpoint: { ...endpoint, reply: z.object({ workspace: z.string(), page: z.string() }) },
  handler: async () => ({ workspace: currentWorkspace(), page: KEYED }),
}));
const tools = servedTools(routes, { audit, pageKeys });

const callAs = (makerRole: Role, name: string) =>
  present(tools.find((tool) => tool.name === name)).call(
    { workspaceId: 'acc_acme', customerId: 'acme', actor: 'api-key:1', standing: keyStanding(makerRole) },
    {},
  );

// Guards: calls over MCP queue with the requests of their workspace, and the key of a viewer is told no working address.
test.each(['list_agents', 'list_workflows'])(
  '%s counts for its workspace, and is redacted for viewers',
  async (name) => {
    expect(await callAs('member', name)).toEqual({ workspace: 'acme', page: KEYED });
    expect(await callAs('viewer', name)).toEqual({ workspace: 'acme', page: '/miniapps/***' });
  },
);
