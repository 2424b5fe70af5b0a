/** The MCP servers that the operator named. A workspace's own come from its integrations and are addresses only. */
import { z } from 'zod';
import { ConfigError, faultsIn } from '../core/config.ts';
import { jsonOfSetting, readSettingFile } from '../core/setting-file.ts';

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
 * @throws ConfigError that says what is wrong, but nothing of what it holds: environments and headers are secrets
 */
export function readMcpServers(setting: string | undefined): ReadonlyMap<string, McpServer> {
  if (setting === undefined) return new Map();
  const isInline = setting.trimStart().startsWith('{');
  const given = isInline ? jsonOfSetting('MCP_SERVERS', setting) : readSettingFile('MCP_SERVERS', setting);
  const parsed = McpServers.safeParse(given);
  if (parsed.success) return new Map(Object.entries(parsed.data));
  throw new ConfigError(faultsIn('MCP_SERVERS', parsed.error));
}
