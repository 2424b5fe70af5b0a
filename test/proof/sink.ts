/**
 * The world outside, as the proofs of crashes and networks have it: an HTTP server that remembers what reached it.
 * `PUT /put/<key>` is idempotent as such an interface is in earnest: a repetition of the same is answered like the
 * first. `POST /post/<key>` does its effect each time. `POST /hook` takes webhooks.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { portOf } from '../support/processes/listening.ts';

export interface SinkRequest {
  kind: 'put' | 'post' | 'hook';
  /** Of what is put or posted; of a webhook `run:<id>` or `project:<id>`. */
  key: string;
  socket: Socket;
}

export interface Sink {
  url: string;
  /** For `EGRESS_ALLOWLIST`. */
  hostAndPort: string;
  /** By key: the bodies it came with (one, if all is well), and how often it came. */
  puts: Map<string, { bodies: Set<string>; times: number }>;
  /** By key: how often it came. */
  posts: Map<string, number>;
  /** By key: how often a webhook of it was answered 200. */
  hooks: Map<string, number>;
  /**
   * Called when a request has had its effect and before it is answered, as long as it is set.
   * @returns another status than 200 to answer with
   */
  beforeAnswer: ((request: SinkRequest) => Promise<number | void>) | undefined;
  close(): Promise<void>;
}

export async function startSink(): Promise<Sink> {
  const sink: Pick<Sink, 'puts' | 'posts' | 'hooks' | 'beforeAnswer'> = {
    puts: new Map(),
    posts: new Map(),
    hooks: new Map(),
    beforeAnswer: undefined,
  };

  function takeEffect(kind: SinkRequest['kind'], key: string, body: string): void {
    if (kind === 'post') sink.posts.set(key, (sink.posts.get(key) ?? 0) + 1);
    if (kind !== 'put') return;
    const before = sink.puts.get(key) ?? { bodies: new Set<string>(), times: 0 };
    sink.puts.set(key, { bodies: before.bodies.add(body), times: before.times + 1 });
  }

  const server = createServer(async (request, response) => {
    try {
      const body = await text(request);
      const [, kind, path = ''] = (request.url ?? '').split('/') as [string, SinkRequest['kind'], string?];
      const key = kind === 'hook' ? subjectOf(body) : path;
      takeEffect(kind, key, body);
      const status = (await sink.beforeAnswer?.({ kind, key, socket: request.socket })) ?? 200;
      if (kind === 'hook' && status === 200) sink.hooks.set(key, (sink.hooks.get(key) ?? 0) + 1);
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"taken":true}');
    } catch {
      // Whoever asked is gone before it had said all.
      request.socket.destroy();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostAndPort = `127.0.0.1:${portOf(server)}`;
  return Object.assign(sink, {
    url: `http://${hostAndPort}`,
    hostAndPort,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

function subjectOf(body: string): string {
  const { data } = JSON.parse(body) as { data: { run_id?: string; project_id?: string } };
  return data.run_id === undefined ? `project:${data.project_id}` : `run:${data.run_id}`;
}
