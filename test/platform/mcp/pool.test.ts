import { afterAll, expect, test } from '@jest/globals';
import { createLog } from '../../../src/platform/core/log.ts';
import { createMcpPool } from '../../../src/platform/mcp/pool.ts';

const pool = createMcpPool({
  servers: new Map(),
  guardedFetch: () => Promise.reject(new Error('nothing is asked of a server here')),
  settings: { MCP_TIMEOUT: 1_000, RESPONSE_MAX_MB: 1, RESPONSE_TIMEOUT: 1_000 },
  log: createLog({ level: 'silent' }),
});
afterAll(() => pool.close());

const server = (name: string) => ({ name, url: `https://example.com/${name}` });

// Guards: a workspace with very many servers closes its own connections, not those of others.
test('one workspace does not close the connections of another', () => {
  const modest = pool.ofWorkspace('modest', server('only'));
  const busy = pool.ofWorkspace('busy', server('first'));
  for (let n = 0; n < 600; n++) pool.ofWorkspace('busy', server(`${n}`));
  expect(pool.ofWorkspace('modest', server('only'))).toBe(modest);
  expect(pool.ofWorkspace('busy', server('first'))).not.toBe(busy);
});
