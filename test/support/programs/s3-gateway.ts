/**
 * S3-compatible storage: versitygw, a gateway of its own, on a directory of this machine. It can be stopped, frozen, filled
 * and robbed of its bucket. Built once with `go` into the project's cache.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { present } from '../../../src/platform/core/present.ts';
import { endWithUs, removeWithUs } from '../../bench/processes.ts';
import { mountSmallDisk, type SmallDisk } from '../faults/small-disk.ts';
import { quietPort } from '../processes/ports.ts';
import { eventually } from '../service/service.ts';
import { buildGoProgram } from './go-program.ts';
import { inCache } from './make-once.ts';

const VERSION = 'v1.8.0';
const PROGRAM = inCache('bin', `versitygw-${VERSION}`);

export const S3_KEY = { access_key_id: 'AOSTESTS', secret_access_key: 'a-secret-of-the-tests' };

export interface S3Gateway {
  url: string;
  hostAndPort: string;
  /** Settings of a service that keeps its files there. */
  settings: Record<`FILES_S3_${string}`, string>;
  /** The keys of all objects, as they lie on the disk. */
  keys(): Promise<string[]>;
  get(key: string): Promise<{ status: number; text: string; contentType?: string | undefined }>;
  /** @param secret what it knows its credential by from now on */
  start(secret?: string): Promise<void>;
  /** Connections are refused from now on. */
  stop(): Promise<void>;
  /** Connections are taken, and nothing is answered. */
  freeze(): void;
  /** What arrived meanwhile is carried out. */
  thaw(): void;
  takeBucketAway(): Promise<void>;
  giveBucketBack(): Promise<void>;
  /** Only where it was started with a small disk. */
  disk: SmallDisk | undefined;
  close(): Promise<void>;
}

/** @param diskBytes the size of a disk of its own */
export async function startS3Gateway(bucket: string, { diskBytes }: { diskBytes?: number } = {}): Promise<S3Gateway> {
  await buildGoProgram(`github.com/versity/versitygw/cmd/versitygw@${VERSION}`, PROGRAM);
  const folder = await mkdtemp(join(tmpdir(), 'aos-s3-'));
  removeWithUs(folder);
  const disk = diskBytes === undefined ? undefined : await mountSmallDisk(folder, diskBytes);
  const own = (...path: string[]): string => join(disk?.inside ?? folder, ...path);
  for (const part of [['buckets', bucket], ['about']]) await mkdir(own(...part), { recursive: true });
  const hostAndPort = `127.0.0.1:${await quietPort()}`;
  const url = `http://${hostAndPort}`;
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = S3_KEY;
  const { GetObjectCommand, S3Client, S3ServiceException } = await import('@aws-sdk/client-s3');
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ region: 'us-east-1', endpoint: url, forcePathStyle: true, credentials });

  let gateway: ChildProcess | undefined;
  async function start(secret = secretAccessKey): Promise<void> {
    const where = ['posix', '--sidecar', join(folder, 'about'), join(folder, 'buckets')];
    const [program, ...args] = [...(disk?.launcher ?? []), PROGRAM, '--port', hostAndPort, '--quiet', ...where];
    const env = { ...process.env, ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secret };
    const child = spawn(present(program), args, { stdio: 'ignore', env });
    gateway = child;
    endWithUs(present(child.pid));
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`);
      await fetch(url);
    });
  }
  async function stop(): Promise<void> {
    const child = present(gateway, 'a gateway that runs');
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
  await start();
  return {
    url,
    hostAndPort,
    settings: {
      FILES_S3_BUCKET: bucket,
      FILES_S3_REGION: 'us-east-1',
      FILES_S3_ENDPOINT: url,
      FILES_S3_ACCESS_KEY_ID: accessKeyId,
      FILES_S3_SECRET_ACCESS_KEY: secretAccessKey,
    },
    async keys() {
      const root = own('buckets', bucket);
      const found = await readdir(root, { recursive: true, withFileTypes: true });
      return found
        .filter((each) => each.isFile())
        .map((each) => join(each.parentPath, each.name).slice(root.length + 1))
        .filter((key) => !key.startsWith('.'));
    },
    async get(key) {
      try {
        const { Body, ContentType } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
        return { status: 200, text: (await Body?.transformToString()) ?? '', contentType: ContentType };
      } catch (error) {
        if (!(error instanceof S3ServiceException)) throw error;
        return { status: present(error.$metadata.httpStatusCode), text: error.name };
      }
    },
    start,
    stop,
    freeze: () => void gateway?.kill('SIGSTOP'),
    thaw: () => void gateway?.kill('SIGCONT'),
    takeBucketAway: () => rename(own('buckets', bucket), own('taken-away')),
    giveBucketBack: () => rename(own('taken-away'), own('buckets', bucket)),
    disk,
    async close() {
      client.destroy();
      if (gateway?.exitCode === null && gateway.signalCode === null) await stop();
      await disk?.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
