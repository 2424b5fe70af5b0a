/** Puts an object into a bucket of the tenant's. The SDK signs; the bytes leave by the guarded `fetch`. */
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { Readable } from 'node:stream';
import type { GuardedFetch } from '../../../platform/egress/egress.ts';
import { readCapped } from '../../../platform/egress/read-capped.ts';
import type { DestinationTarget } from '../contract.ts';
import { fileOf, refusedWith, type DeliveredOutput } from './output.ts';

type S3Config = Extract<DestinationTarget, { kind: 's3' }>['config'];

/** An answer may be so long: an error is a short document. */
const MAX_ANSWER = 64 * 1_024;

const keyOf = ({ project, artifact }: DeliveredOutput, extension: string, prefix?: string): string =>
  [...(prefix === undefined ? [] : [prefix]), project.id, artifact.phaseSlug, `v${artifact.version}.${extension}`].join(
    '/',
  );

export async function sendS3(
  { fetch }: { fetch: GuardedFetch },
  { endpoint, region, bucket, prefix, access_key_id: accessKeyId, secret_access_key: secretAccessKey }: S3Config,
  output: DeliveredOutput,
  signal?: AbortSignal,
): Promise<void> {
  const { text, extension, contentType } = fileOf(output);
  // The SDK is large and most processes never need it, so it is loaded on first use.
  const { PutObjectCommand, S3Client, S3ServiceException } = await import('@aws-sdk/client-s3');
  const client = new S3Client({
    region,
    credentials: { accessKeyId, secretAccessKey },
    // A tenant's bucket must be reached by none of the deployment's own settings.
    ignoreConfiguredEndpointUrls: true,
    // Storage other than AWS's seldom has a host name for each bucket.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    // Temporal repeats, and says so in the log, so the SDK does not.
    maxAttempts: 1,
    requestHandler: guardedHandler(fetch, signal),
  });
  try {
    await client.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key: keyOf(output, extension, prefix),
        ContentType: contentType,
        Body: Buffer.from(text),
        // A page is for saving, and must not run on the origin of a bucket.
        ContentDisposition: 'attachment',
      }),
    );
  } catch (error) {
    if (!(error instanceof S3ServiceException) || error.$metadata.httpStatusCode === undefined) throw error;
    const code = /^\w{1,60}$/.test(error.name) ? error.name : '';
    throw refusedWith(error.$metadata.httpStatusCode, 'the storage', code);
  } finally {
    client.destroy();
  }
}

/** The SDK hands a signed request on like this. */
interface SignedRequest {
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  query: Record<string, unknown>;
  method: string;
  headers: Record<string, string>;
  body: Buffer;
}

const guardedHandler = (fetch: GuardedFetch, signal?: AbortSignal): S3ClientConfig['requestHandler'] => ({
  async handle({ protocol, hostname, port, path, query, method, headers, body }: SignedRequest) {
    const url = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    // `fetch` sets these headers itself, to the values that were signed.
    const { host: _host, 'content-length': _length, expect: _expect, ...own } = headers;
    const response = await fetch(url, { method, headers: own, body: new Uint8Array(body), redirect: 'manual', signal });
    const { bytes } = await readCapped(response, MAX_ANSWER);
    return {
      response: {
        statusCode: response.status,
        headers: Object.fromEntries(response.headers),
        body: Readable.from([bytes]),
      },
    };
  },
});
