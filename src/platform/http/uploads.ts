/**
 * Streams the files of a multipart request to storage as they arrive. A request counts whole or not at all: where it is
 * refused, breaks off or comes to nothing, no file stays in storage.
 */
import type { Request, Response } from 'express';
import multer, { type StorageEngine } from 'multer';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { present } from '../core/present.ts';
import { Problem } from '../core/problem.ts';
import { watchBody } from './bounded.ts';
import type { ReceivedFile, ReceiveFiles, UploadLimits } from './endpoint.ts';

/** Other fields of the form are skipped; these limits bound what skipping them can cost. */
const FIELD_LIMITS = { fields: 10, fieldSize: 10_000, headerPairs: 100 };
/** The storage is told this type, because the real one is known only at the end, and nobody is served from there. */
const OPAQUE = 'application/octet-stream';

/**
 * @param limits undefined: the endpoint takes no files
 * @param admit throws where the caller may not do this any more
 */
export const filesOf =
  (
    request: Request,
    response: Response,
    limits: UploadLimits | undefined,
    admit: () => Promise<unknown>,
  ): ReceiveFiles =>
  async ({ files, newKey }, keep) => {
    if (!limits) throw new Error('an endpoint that does not declare uploads asks for files');
    const writes: { key: string; written: Promise<ReceivedFile> }[] = [];
    const allowance = { bytes: limits.maxBytes };
    /** Keeps what went wrong first, unless it was the form: the parser only sees that a file broke off. */
    let failure: unknown;

    const storage: StorageEngine = {
      _handleFile(_request, { stream, originalname }, done) {
        const key = newKey();
        const measure = createMeasure(storableName(originalname), allowance);
        const written = files
          .putStream(key, Readable.from(measure.pass(stream), { objectMode: false }), OPAQUE)
          .then(async () => ({ key, ...(await measure.result()) }))
          .catch((error: unknown) => {
            if (error instanceof Problem || !measure.hasBrokenOff()) failure ??= error;
            stream.resume();
            throw error;
          });
        writes.push({ key, written });
        written.then(() => done(null), done);
      },
      // The parser need not remove anything: this function knows what was written, also of a file that the parser has
      // lost sight of.
      _removeFile: (_request, _file, done) => done(null),
    };
    const read = multer({
      storage,
      limits: { ...FIELD_LIMITS, files: limits.maxFiles, parts: limits.maxFiles + FIELD_LIMITS.fields },
      defParamCharset: 'utf8',
    }).array(limits.field);

    const settled = () => Promise.allSettled(writes.map(({ written }) => written));
    const discard = async () => {
      await Promise.all(
        writes.map(({ key, written }) =>
          written.then(
            () => files.discard(key),
            (failed: unknown) => files.discard(key, failed),
          ),
        ),
      );
    };
    const receive = async (): Promise<ReceivedFile[]> => {
      // The parser would wait for ever for a request that broke off before it was asked.
      if (request.destroyed && !request.readableEnded) throw new Problem('invalid_upload', 'Request aborted');
      await new Promise<void>((resolve, reject) => {
        watchBody(request, response, limits.maxBytes, reject);
        read(request, response, (error: unknown) => (error ? reject(error as Error) : resolve()));
      }).catch(async (error: Error) => {
        if (error instanceof Problem) throw error;
        await settled();
        throw failure ?? uploadProblem(error, ['LIMIT_FILE_COUNT']);
      });
      if (writes.length === 0) throw new Problem('invalid_upload', `no file in the field ${limits.field}`);
      return Promise.all(writes.map(({ written }) => written));
    };

    // Meanwhile the caller may have been removed, or the workspace with all its files: then that is what went wrong.
    const receiveAdmitted = async (): Promise<ReceivedFile[]> => {
      const received = await receive().catch(async (error: unknown) => {
        if (!(error instanceof Problem)) await admit();
        throw error;
      });
      await admit();
      return received;
    };
    const received = await receiveAdmitted().catch(async (error: unknown) => {
      await discard();
      throw error;
    });
    return keep(received).catch(async (error: unknown) => {
      // Any other error may have come after the commit, and then rows refer to the files.
      if (error instanceof Problem) await discard();
      throw error;
    });
  };

/**
 * Turns errors of the parser, which have no type to tell by, into problems: whatever goes wrong while a form is read is
 * the caller's doing.
 * @param tooLarge codes of multer that mean a size over its limit
 */
export const uploadProblem = (error: Error, tooLarge: string[] = ['LIMIT_FILE_SIZE']): Problem =>
  error instanceof multer.MulterError && tooLarge.includes(error.code)
    ? new Problem('payload_too_large')
    : new Problem('invalid_upload', error.message);

/** @returns the name without what Postgres cannot keep or a header cannot carry */
export const storableName = (name: string): string => name.replace(/[\x00-\x1f\x7f]/g, '').toWellFormed();

/** file-type looks no further for almost all formats. */
const HEAD_BYTES = 4_100;

/** Makes a stream that notes a file's size, digest and type while the file passes. */
function createMeasure(filename: string, allowance: { bytes: number }) {
  const hash = createHash('sha256');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const head: Buffer[] = [];
  let headBytes = 0;
  let sizeBytes = 0;
  let isText = true;
  let isBrokenOff = false;

  const decode = (chunk?: Buffer) => {
    if (!isText) return;
    try {
      if (decoder.decode(chunk, { stream: chunk !== undefined }).includes('\0')) isText = false;
    } catch {
      isText = false;
    }
  };

  return {
    async *pass(stream: Readable): AsyncGenerator<Buffer> {
      try {
        for await (const chunk of stream as AsyncIterable<Buffer>) {
          allowance.bytes -= chunk.length;
          if (allowance.bytes < 0) throw new Problem('payload_too_large');
          sizeBytes += chunk.length;
          hash.update(chunk);
          decode(chunk);
          if (headBytes < HEAD_BYTES) headBytes += head.push(chunk) && chunk.length;
          yield chunk;
        }
      } catch (error) {
        isBrokenOff = true;
        throw error;
      }
      decode();
    },
    /** @returns whether the stream itself failed, as opposed to whoever wrote it */
    hasBrokenOff: () => isBrokenOff,
    result: async () => ({
      filename,
      sizeBytes,
      sha256: hash.digest('hex'),
      contentType: await contentTypeOf(filename, isText, Buffer.concat(head)),
    }),
  };
}

const TEXT_TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  json: 'application/json',
  markdown: 'text/markdown',
  md: 'text/markdown',
};

/**
 * Tells the type by the content. Text says little of itself, so its extension decides, and only for types that no
 * browser would run.
 */
async function contentTypeOf(filename: string, isText: boolean, head: Buffer): Promise<string> {
  // A PDF may be all ASCII. Otherwise text is text, whatever it begins like: "BM" is how a bitmap begins, and BMW.
  if (isText && !head.subarray(0, 5).equals(Buffer.from('%PDF-'))) {
    const extension = /\.(\w+)$/.exec(filename)?.[1]?.toLowerCase() ?? '';
    return Object.hasOwn(TEXT_TYPES, extension) ? present(TEXT_TYPES[extension]) : 'text/plain';
  }
  const { fileTypeFromBuffer } = await import('file-type');
  const detected = await fileTypeFromBuffer(head);
  return detected && !isActiveType(detected.mime) ? detected.mime : OPAQUE;
}

/** @returns whether a browser might run a file of this type as a page or a script, were it shown instead of saved */
export const isActiveType = (contentType: string): boolean => /html|xml|svg|script|xsl/i.test(contentType);
