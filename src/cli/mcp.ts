/** Adds `aos mcp`, which shows the MCP servers that agents can use. */
import type { Command } from 'commander';
import type { McpServer } from '../../client/src/api.ts';
import { asList, list, type ListOptions } from './listing.ts';
import { openService } from './client.ts';
import { CliError, oneLine, paint, print, printJson, shorten, shortTime } from './output.ts';

const SERVERS = '/v1/mcp-servers';

export function addMcpCommands(program: Command): void {
  const mcp = program.command('mcp').description('MCP servers whose tools agents can use');
  asList(mcp.command('list', { isDefault: true }))
    .description('their state as the process sees it that answers, and how many tools are taken and left out')
    .action(listServers);
  mcp
    .command('show <name>')
    .option('--json', 'print JSON')
    .description('one server: its tools, and what is left out and why')
    .action(show);
}

const listServers = (options: ListOptions) =>
  list<McpServer>(
    {
      path: SERVERS,
      columns: [
        { title: 'NAME', value: (row) => row.name },
        { title: 'OWNER', value: (row) => row.owner },
        { title: 'STATE', value: (row) => row.state },
        { title: 'SINCE', value: (row) => shortTime(row.since) },
        { title: 'TOOLS', value: (row) => row.tools.length, align: 'right' },
        { title: 'LEFT OUT', value: (row) => row.left_out.length, align: 'right' },
        { title: 'REASON', value: (row) => shorten(oneLine(row.reason ?? ''), 80) },
      ],
      empty: 'no MCP servers',
    },
    options,
  );

async function show(name: string, { json }: { json?: boolean }): Promise<void> {
  const { data } = await (await openService(process.env)).controlPlane<{ data: McpServer[] }>('GET', SERVERS);
  const server = data.find((each) => each.name === name);
  if (!server) throw new CliError(`There is no MCP server "${name}". Run \`aos mcp\` to list them.`);
  if (json) return printJson(server);
  print(`${paint('bold', server.name)} (${server.owner}): ${server.state} since ${shortTime(server.since)}`);
  if (server.reason) print(`reason: ${oneLine(server.reason)}`);
  for (const { slug, adapted } of server.tools) print(`${slug}${adapted ? ` (told in another form: ${adapted})` : ''}`);
  for (const { name: tool, reason } of server.left_out)
    print(`left out: ${oneLine(tool) || '(no name)'}: ${oneLine(reason)}`);
}
