/**
 * As much of the Docker Engine API as a container tool needs, on a real unix socket: create, attach (a hijacked
 * connection with framed streams), start, wait, remove, list. What a container does, the test says.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { json, text } from 'node:stream/consumers';
import { present } from '../../../src/platform/core/present.ts';

export interface FakeContainer {
  name: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its shape is the engine's, and the test's to check
  order: any;
  isStarted: boolean;
}

/** What a started container does; its exit code ends it. Without one it runs until it is removed. */
type Behaviour = (io: {
  stdin: () => Promise<string>;
  write: (to: 'stdout' | 'stderr', text: string) => void;
}) => Promise<number | void>;

export interface DockerEngine {
  host: string;
  containers: Map<string, FakeContainer>;
  /** Each request as `METHOD /path`. */
  requests: string[];
  behave(behaviour: Behaviour): void;
  /** Answers this request with a failure. */
  fail(request: RegExp, status: number): void;
  /** Takes this long to create a container. */
  createAfter(gate: Promise<void>): void;
  close(): Promise<void>;
}

const IMAGES = ['tools/known:1'];

/** Eight bytes before each piece say which stream it is of and how long it is. */
const framed = (to: 'stdout' | 'stderr', content: string): Buffer => {
  const bytes = Buffer.from(content);
  const header = Buffer.alloc(8);
  header.writeUInt8(to === 'stdout' ? 1 : 2, 0);
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
};

export async function startDockerEngine(): Promise<DockerEngine> {
  const directory = await mkdtemp(join(tmpdir(), 'docker-engine-'));
  const socketPath = join(directory, 'docker.sock');
  const containers = new Map<string, FakeContainer>();
  const streams = new Map<string, Duplex>();
  const exits = new Map<string, PromiseWithResolvers<number>>();
  const requests: string[] = [];
  let behaviour: Behaviour = async () => 0;
  let failure: { request: RegExp; status: number } | undefined;
  let created: Promise<void> = Promise.resolve();

  const remove = (name: string) => {
    streams.get(name)?.destroy();
    exits.get(name)?.resolve(137);
    return containers.delete(name);
  };

  const start = async (name: string) => {
    const stream = present(streams.get(name));
    const exitCode = await behaviour({
      stdin: () => text(stream),
      write: (to, content) => void (stream.destroyed || stream.write(framed(to, content))),
    });
    if (exitCode === undefined) return;
    stream.end();
    present(exits.get(name)).resolve(exitCode);
  };

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(present(request.url), 'http://docker');
    requests.push(`${request.method} ${pathname}`);
    const answer = (status: number, body?: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body && JSON.stringify(body));
    if (failure?.request.test(`${request.method} ${pathname}`)) return answer(failure.status, { message: 'told so' });
    const [, kind, id = '', action] = /^\/(images|containers)\/(.+?)(?:\/(json|start|wait))?$/.exec(pathname) ?? [];

    if (kind === 'images') {
      if (!IMAGES.includes(id)) return answer(404, { message: 'no such image' });
      return answer(200, { Config: { Volumes: { '/data': {} } } });
    }
    if (request.method === 'GET' && pathname === '/containers/json') {
      const { label } = JSON.parse(searchParams.get('filters') ?? '{}') as { label?: string[] };
      const found = [...containers.values()].filter(({ order }) =>
        present(label).every((name) => name in order.Labels),
      );
      return answer(200, found.map(({ name, order }) => ({ Id: name, Labels: order.Labels })) as never);
    }
    if (id === 'create') {
      const order = await json(request);
      await created;
      const name = present(searchParams.get('name'));
      containers.set(name, { name, order, isStarted: false });
      exits.set(name, Promise.withResolvers());
      return answer(201, { Id: name, Warnings: [] });
    }
    const container = containers.get(id);
    if (!container) return answer(404, { message: 'no such container' });
    if (request.method === 'DELETE') {
      if (searchParams.get('force') !== 'true' || searchParams.get('v') !== 'true') return answer(409, {});
      remove(id);
      return answer(204);
    }
    if (action === 'start') {
      container.isStarted = true;
      answer(204);
      return start(id);
    }
    if (action === 'wait') return answer(200, { StatusCode: await present(exits.get(id)).promise });
    return answer(501, { message: `this engine cannot ${request.method} ${pathname}` });
  });

  server.on('upgrade', (request, socket: Duplex) => {
    const { pathname } = new URL(present(request.url), 'http://docker');
    requests.push(`${request.method} ${pathname}`);
    const [, name] = /^\/containers\/(.+)\/attach$/.exec(pathname) ?? [];
    if (!name || !containers.has(name)) return void socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
    socket.on('error', () => {});
    socket.write('HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n');
    socket.write('Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
    streams.set(name, socket);
  });

  await once(server.listen(socketPath), 'listening');
  return {
    host: `unix://${socketPath}`,
    containers,
    requests,
    behave: (next) => void (behaviour = next),
    fail: (request, status) => void (failure = { request, status }),
    createAfter: (gate) => void (created = gate),
    async close() {
      for (const name of containers.keys()) remove(name);
      for (const stream of streams.values()) stream.destroy();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await rm(directory, { recursive: true });
    },
  };
}
