import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readMcpServers } from '../../../src/platform/mcp/servers.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcp-servers-'));
});
afterAll(() => rm(folder, { recursive: true }));

// Guards: the setting is JSON or the name of a file with it, and says everything that a command or an address needs.
test('reads the setting', async () => {
  const servers = { files: { command: 'npx', args: ['-y', 'x'] }, far: { url: 'https://example.com/mcp' } };
  const path = join(folder, 'servers.json');
  await writeFile(path, JSON.stringify(servers));
  for (const setting of [JSON.stringify(servers), ` ${JSON.stringify(servers)}`, path]) {
    expect(Object.fromEntries(readMcpServers(setting))).toEqual({
      files: { command: 'npx', args: ['-y', 'x'], env: {} },
      far: { url: 'https://example.com/mcp', headers: {} },
    });
  }
  expect(readMcpServers(undefined).size).toBe(0);
});

// Guards: a wrong setting is reported by its name and place, without the secrets in it.
test.each([
  ['{"a": {"command": "x", "env": {"KEY": "sesame"}}', /not valid JSON/],
  ['/nowhere/servers.json', /\/nowhere\/servers\.json cannot be read/],
  ['{"Not a name": {"command": "x"}}', /lower-case letters/],
  ['{"a.b": {"command": "x"}}', /lower-case letters/],
  ['{"a": {"url": "file:///etc/passwd", "headers": {"x": "sesame"}}}', /a/],
  ['{"a": {"command": "x", "url": "https://example.com", "env": {"K": "sesame"}}}', /expects/],
  ['{"a": {"command": ""}}', /a/],
  ['{"a": "sesame"}', /expects/],
])('refuses %s', (setting, why) => {
  expect(() => readMcpServers(setting)).toThrow(/^MCP_SERVERS: /);
  expect(() => readMcpServers(setting)).toThrow(why);
  expect(() => readMcpServers(setting)).not.toThrow(/sesame/);
});
