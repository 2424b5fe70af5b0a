/** An external provisioner that speaks the protocol of docs/operate/provisioner.md over real HTTP, and does as it is told. */
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { present } from '../../../src/platform/core/present.ts';
import { portOf } from '../../support/processes/listening.ts';

interface AskedOfProvisioner {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: unknown;
}

/** What it answers in the place of what it would; undefined: it does its work. `reset` breaks the connection. */
type Interference = (asked: AskedOfProvisioner) => { status: number; body?: unknown } | 'reset' | undefined;

export interface ExternalProvisioner {
  url: string;
  asked: AskedOfProvisioner[];
  /** What there is, by path, with how often it is still looked at before it is ready. */
  resources: Map<string, { looksLeft: number; id: string }>;
  interfere(with_: Interference): void;
  close(): Promise<void>;
}

/** @param slowness looks until a resource is ready, and until it is gone */
export async function startExternalProvisioner({ slowness = 1 } = {}): Promise<ExternalProvisioner> {
  const asked: AskedOfProvisioner[] = [];
  const resources: ExternalProvisioner['resources'] = new Map();
  const leaving = new Map<string, number>();
  let interference: Interference = () => undefined;

  const answer = ({ method, path }: AskedOfProvisioner): { status: number; body?: unknown } => {
    if (path === '/runtime') return { status: 200, body: {} };
    const there = resources.get(path);
    if (method === 'PUT') {
      if (!there) resources.set(path, { looksLeft: slowness, id: `r-${resources.size + 1}` });
      return { status: 202, body: stateOf(path) };
    }
    if (!there) return { status: 404, body: { code: 'not_found' } };
    if (method === 'DELETE') {
      leaving.set(path, slowness);
      return { status: 202, body: { status: 'deleting' } };
    }
    const left = leaving.get(path);
    if (left === undefined) there.looksLeft = Math.max(0, there.looksLeft - 1);
    else if (left > 0) leaving.set(path, left - 1);
    else {
      resources.delete(path);
      leaving.delete(path);
      return { status: 404, body: { code: 'not_found' } };
    }
    return { status: 200, body: left === undefined ? stateOf(path) : { status: 'deleting' } };
  };
  const stateOf = (path: string) => {
    const { looksLeft, id } = present(resources.get(path));
    const isServer = path.endsWith('/server');
    return {
      status: looksLeft > 0 ? 'creating' : 'ready',
      id,
      ...(isServer && { runtime_base_url: `${url}/runtime` }),
    };
  };

  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method = '', url: path = '', headers } = request;
      const one = { method, path, headers, body: body ? (JSON.parse(body) as unknown) : undefined };
      asked.push(one);
      const interfered = interference(one);
      if (interfered === 'reset') {
        request.socket.destroy();
        return;
      }
      const { status, body: said } = interfered ?? answer(one);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(said === undefined ? '' : JSON.stringify(said));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${portOf(server)}`;
  return {
    url,
    asked,
    resources,
    interfere(with_) {
      interference = with_;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
