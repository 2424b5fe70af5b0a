/** The MCP servers that the operator named. A workspace's own come from its integrations and are addresses only. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseJson } from '../core/json.ts';

/** A command that speaks MCP on its standard input and output. */
const Command = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** Its environment has these variables and PATH, and nothing else. */
  env: z.record(z.string(), z.string()).default({}),
  cwd: z.string().optional(),
});
/** An address that speaks MCP over streamable HTTP. */
const Address = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: 'expects an http or https address' }),
  headers: z.record(z.string(), z.string()).default({}),
});
/** The name is a part of the names of the server's tools, which are `mcp.<server>.<tool>`. */
const Name = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/);
const McpServers = z.record(
  Name,
  z.union([Command, Address], 'expects {"command", "args"?, "env"?, "cwd"?} or {"url", "headers"?}'),
  { error: ({ code }) => (code === 'invalid_key' ? 'a name is lower-case letters, digits, "-" and "_"' : undefined) },
);

export type McpCommand = z.output<typeof Command>;
export type McpAddress = z.output<typeof Address>;
export type McpServer = McpCommand | McpAddress;

/**
 * @param setting the servers as JSON, or the path of a file with them
 * @throws Error that says what is wrong, but nothing of what it holds: environments and headers are secrets
 */
export function readMcpServers(setting: string | undefined): ReadonlyMap<string, McpServer> {
  if (setting === undefined) return new Map();
  const isInline = setting.trimStart().startsWith('{');
  const parsed = McpServers.safeParse(settingIn(isInline ? setting : readSettingFile(setting)));
  if (parsed.success) return new Map(Object.entries(parsed.data));
  throw new Error(`MCP_SERVERS: ${z.prettifyError(parsed.error)}`);
}

function readSettingFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`MCP_SERVERS: ${path} cannot be read, and is no JSON object either`, { cause: error });
  }
}

function settingIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    // The cause is left out, because the parser quotes what it met.
    throw new Error('MCP_SERVERS: is not valid JSON');
  }
}
