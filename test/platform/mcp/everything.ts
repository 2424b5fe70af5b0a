/** The reference MCP server that shows off every feature, as the processes that it is. Nobody here wrote it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { present } from '../../../src/platform/core/present.ts';
import { quietPort } from '../../support/processes/ports.ts';
import type { McpCommand } from '../../../src/platform/mcp/servers.ts';

const SCRIPT = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);

export const everythingCommand = (env: Record<string, string> = {}): McpCommand => ({
  command: process.execPath,
  args: [SCRIPT, 'stdio'],
  env,
});

export interface HttpServer {
  url: string;
  /** host:port */
  address: string;
  start(): Promise<void>;
  kill(): Promise<void>;
}

/** Over streamable HTTP, at an address that outlives the process. */
export async function startEverything(): Promise<HttpServer> {
  const port = await quietPort();
  let child: ChildProcess | undefined;
  const server: HttpServer = {
    url: `http://127.0.0.1:${port}/mcp`,
    address: `127.0.0.1:${port}`,
    async start() {
      child = spawn(process.execPath, [SCRIPT, 'streamableHttp'], {
        env: { ...process.env, PORT: String(port) },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      for await (const chunk of present(child.stderr)) if (String(chunk).includes('listening')) break;
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
  await server.start();
  return server;
}
