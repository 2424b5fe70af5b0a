/** Requests to the deployment, each of them counted: kind, status, milliseconds. */
import { Agent, request } from 'undici';
import type { Deployment } from '../../support/processes/deployment.ts';

export interface Sample {
  kind: string;
  /** 0: no answer came. */
  status: number;
  ms: number;
}

// Their shape is the endpoint's.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Body = any;

export interface CountingClient {
  /** The public surface, with an API key. @throws Error where it is not answered 2xx */
  api(kind: string, method: Method, path: string, body?: unknown): Promise<Body>;
  /** The control plane through the browser proxy. */
  cp(kind: string, method: Method, path: string, body?: unknown): Promise<Body>;
  /** What was asked since the last time. */
  take(): Sample[];
}

type Method = 'GET' | 'POST';

/** The error of a request that is in the samples already. */
export class NotAnswered extends Error {}

/** @param deployment whose APIs are asked in turn */
export function countRequests({ replicas, apiKey, session }: Deployment): CountingClient {
  const bases = replicas.flatMap(({ url }) => url ?? []);
  const dispatcher = new Agent({ connections: 128, keepAliveTimeout: 10_000 });
  let samples: Sample[] = [];
  let turn = 0;
  const send = async (
    credentials: Record<string, string>,
    kind: string,
    method: Method,
    path: string,
    body?: unknown,
  ): Promise<Body> => {
    const from = performance.now();
    const counted = (status: number) => samples.push({ kind, status, ms: performance.now() - from });
    const answer = await request(`${bases[turn++ % bases.length]}${path}`, {
      dispatcher,
      method,
      headers: { ...credentials, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      counted(0);
      throw new NotAnswered(`${method} ${path}`, { cause: error });
    });
    const text = await answer.body.text();
    counted(answer.statusCode);
    if (answer.statusCode >= 300) throw new NotAnswered(`${method} ${path}: ${answer.statusCode} ${text}`);
    return JSON.parse(text);
  };
  return {
    api: (kind, method, path, body) => send({ authorization: `Bearer ${apiKey}` }, kind, method, path, body),
    cp: (kind, method, path, body) =>
      send({ cookie: `service_session=${session}` }, kind, method, `/api/v1/cp/v1${path}`, body),
    take() {
      const taken = samples;
      samples = [];
      return taken;
    },
  };
}
