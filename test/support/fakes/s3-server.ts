/**
 * S3-compatible storage: the package s3rver behind a check of signatures (version 4), which it does not make itself. The
 * check follows AWS's description and shares no code with the SDK that signs.
 */
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { present } from '../../../src/platform/core/present.ts';
import { portOf } from '../processes/listening.ts';

export const S3_KEY = { access_key_id: 'S3RVER', secret_access_key: 'S3RVER' };

export interface S3Server {
  url: string;
  hostAndPort: string;
  /** Statuses with which the next requests are answered, before any is looked at. */
  failures: number[];
  /** An object as anybody may read it. */
  get(key: string): Promise<{ status: number; text: string; headers: Headers }>;
  close(): Promise<void>;
}

export async function startS3Server(bucket: string): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 's3-'));
  const storage = new S3rver({ silent: true, directory, configureBuckets: [{ name: bucket, configs: [] }] });
  await storage.configureBuckets();
  const answer = storage.callback();
  const failures: number[] = [];
  const server = createServer((request, response) => {
    const refuse = (status: number, code: string) => {
      request.resume();
      response.writeHead(status, { 'content-type': 'application/xml' });
      response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
    };
    const failure = failures.shift();
    if (failure !== undefined) refuse(failure, 'InternalError');
    else if (request.method !== 'GET' && !isSigned(request)) refuse(403, 'SignatureDoesNotMatch');
    else answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostAndPort = `127.0.0.1:${portOf(server)}`;
  return {
    url: `http://${hostAndPort}`,
    hostAndPort,
    failures,
    async get(key) {
      const response = await fetch(`http://${hostAndPort}/${bucket}/${key}`);
      return { status: response.status, text: await response.text(), headers: response.headers };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

function isSigned({ method, url, headers }: IncomingMessage): boolean {
  const [, day = '', region = '', names = '', given] =
    /Credential=[^/]+\/(\d+)\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w+)/.exec(
      headers.authorization ?? '',
    ) ?? [];
  const { pathname, searchParams } = new URL(present(url), 'http://storage');
  searchParams.sort();
  const signedNames = names.split(';');
  const canonical = [
    ...[method, pathname, searchParams.toString()],
    ...signedNames.map((name) => `${name}:${String(headers[name]).trim()}`),
    ...['', names, String(headers['x-amz-content-sha256'])],
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const digest = createHash('sha256').update(canonical).digest('hex');
  const text = ['AWS4-HMAC-SHA256', String(headers['x-amz-date']), scope, digest].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${S3_KEY.secret_access_key}`);
  return signedNames.includes('host') && hmac(key, text).toString('hex') === given;
}
