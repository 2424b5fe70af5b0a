/** Speaks to S3-compatible storage: no call waits for longer than somebody who asked for it would. */
import { Readable } from 'node:stream';
import type { NodeHttpHandler as HttpHandler } from '@smithy/node-http-handler';
import type { Disk } from 'flydrive';
import { fieldsOf } from '../core/record.ts';
import { StorageSilent } from './storage-away.ts';

/** The storage has so long to begin its answer, and from one piece of a file to the next. */
const ANSWER_MS = 3_000;
/** A request with a large body is given more time, so that a slow line is no outage. */
const SLOWEST_BYTES_PER_MS = 1_000;

const nothing = (): void => {};
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };

export interface S3Settings {
  bucket: string;
  region: string;
  endpoint: string | undefined;
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
}

export interface S3Bucket {
  disk: Disk;
  /** Waits until the storage answers, whatever it says: one that does not must not be given the bytes of a file. */
  awaitAnswer(): Promise<void>;
}

/** The SDK is large and most processes never need it, so that it is loaded on first use. */
export async function openBucket({ bucket, region, endpoint, credentials }: S3Settings): Promise<S3Bucket> {
  const [{ Disk }, { S3Driver }, { HeadBucketCommand, S3Client }, { NodeHttpHandler }] = await Promise.all([
    import('flydrive'),
    import('flydrive/drivers/s3'),
    import('@aws-sdk/client-s3'),
    import('@smithy/node-http-handler'),
  ]);

  class PunctualHandler extends NodeHttpHandler {
    override async handle(...[request, options]: Parameters<HttpHandler['handle']>) {
      const bytes = Number(request.headers['content-length'] ?? 0);
      const silence = new AbortController();
      const giveUpIn = (ms: number) => setTimeout(() => silence.abort(), ms);
      const whole = giveUpIn(ANSWER_MS + bytes / SLOWEST_BYTES_PER_MS);
      // The time of a stream counts anew from each piece that the storage takes.
      const piece = request.body instanceof Readable ? giveUpIn(ANSWER_MS) : undefined;
      if (request.body instanceof Readable) {
        // A stream that breaks off has been given up, or cannot be sent to its end.
        request.body = passing(request.body, () => piece?.refresh()).on('error', () => silence.abort());
      }
      try {
        return await super.handle(request, { ...options, abortSignal: silence.signal });
      } catch (error) {
        // The SDK tries again what failed quickly. Silence has taken all the time that there is.
        throw silence.signal.aborted ? new StorageSilent() : error;
      } finally {
        // Whoever reads the answer may take their time.
        clearTimeout(whole);
        clearTimeout(piece);
      }
    }
  }

  const client = new S3Client({
    region,
    // Storage other than AWS's seldom has a host name for each bucket, or accepts a checksum behind a stream.
    ...(endpoint ? { endpoint, forcePathStyle: true, requestChecksumCalculation: 'WHEN_REQUIRED' } : {}),
    ...(credentials ? { credentials } : {}),
    requestHandler: new PunctualHandler(),
    // Otherwise the SDK writes to the console when it does not repeat a stream.
    logger: SILENT,
  });
  return {
    disk: new Disk(new S3Driver({ client, bucket, visibility: 'private', supportsACL: false })),
    async awaitAnswer() {
      await client.send(new HeadBucketCommand({ Bucket: bucket })).catch((error: unknown) => {
        if (fieldsOf(fieldsOf(error).$metadata).httpStatusCode === undefined) throw error;
      });
    },
  };
}

const passing = (stream: Readable, note: () => void): Readable =>
  Readable.from(
    (async function* () {
      for await (const piece of stream) {
        note();
        yield piece;
      }
    })(),
    { objectMode: false },
  );

/**
 * Passes a file on, and fails if the storage is silent while somebody waits for the next piece.
 * @param named the error of the storage, for whoever reads the file
 */
export const inTime = (file: Readable, named: (error: unknown) => unknown): Readable =>
  Readable.from(piecesInTime(file, named), { objectMode: false });

async function* piecesInTime(file: Readable, named: (error: unknown) => unknown): AsyncGenerator<Buffer> {
  const pieces: AsyncIterator<Buffer> = file[Symbol.asyncIterator]();
  const next = async () => {
    const timer = setTimeout(() => file.destroy(new StorageSilent()), ANSWER_MS);
    try {
      return await pieces.next();
    } catch (error) {
      throw named(error);
    } finally {
      clearTimeout(timer);
    }
  };
  try {
    for (let piece = await next(); !piece.done; piece = await next()) yield piece.value;
  } finally {
    file.destroy();
  }
}
