/** Serves routes as the product does and calls them over real HTTP, for the tests of what all endpoints share. */
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import express, { type Request } from 'express';
import { createServer, type Server } from 'node:http';
import { pino } from 'pino';
import { NO_STANDING } from '../../../src/platform/core/rights.ts';
import { Problem } from '../../../src/platform/core/problem.ts';
import { createSurface, errorHandler, notFound } from '../../../src/platform/http/app.ts';
import type { Caller, Route } from '../../../src/platform/http/endpoint.ts';
import { portOf } from '../../support/processes/listening.ts';

export const KEY = 'Bearer good';
const caller: Caller = { workspaceId: 'acc_a', customerId: 'a', actor: 'test', standing: NO_STANDING };

const authenticate = async (_credential: string, { headers }: Request) => {
  if (headers.authorization === 'Bearer old') throw new Problem('api_key_revoked');
  if (headers.authorization !== KEY) throw new Problem('invalid_api_key');
  return caller;
};

export interface Reply {
  status: number;
  headers: Headers;
  /** Parsed where it is JSON. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what it is, the test says
  body: any;
}

/** Registers the hooks that start and stop the server of one test file. */
export function serve(routes: readonly Route[]) {
  const served = {
    server: undefined as unknown as Server,
    base: '',
    /** What was logged since the test began. */
    lines: [] as string[],
    async call(
      method: string,
      path: string,
      { body, type = 'application/json', key = KEY }: { body?: string | FormData; type?: string; key?: string } = {},
    ): Promise<Reply> {
      const headers: Record<string, string> = { authorization: key };
      if (typeof body === 'string') headers['content-type'] = type;
      const response = await fetch(served.base + path, { method, headers, ...(body !== undefined && { body }) });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json');
      return { status: response.status, headers: response.headers, body: isJson && text ? JSON.parse(text) : text };
    },
  };
  beforeAll(async () => {
    const log = pino({ base: null }, { write: (line: string) => void served.lines.push(line) });
    const app = express().use(createSurface({ routes, authenticate }), notFound, errorHandler(log));
    served.server = createServer(app).listen(0, '127.0.0.1');
    await new Promise((resolve) => served.server.once('listening', resolve));
    served.base = `http://127.0.0.1:${portOf(served.server)}`;
  });
  beforeEach(() => {
    served.lines.length = 0;
  });
  afterAll(async () => {
    served.server.closeAllConnections();
    await new Promise((resolve) => served.server.close(resolve));
  });
  return served;
}
