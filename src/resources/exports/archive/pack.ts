/**
 * Makes the archive of a workspace. What the database has is read in one snapshot, to the disk of this machine, as nothing
 * else may be waited for meanwhile; files are added after it, straight to the store.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { parseJson } from '../../../platform/core/json.ts';
import { fieldsOf, isRecord } from '../../../platform/core/record.ts';
import { FileNotFoundError, type FileStore } from '../../../platform/files/files.ts';
import { maskPageKeys } from '../../../platform/files/mask-page-keys.ts';
import { createPartsWriter } from '../../../platform/files/parts.ts';
import { openSpool } from '../../../platform/files/spool.ts';
import { BROUGHT, filesOf, linesOf } from '../store/contents.ts';
import { PART_BYTES, type ExportProgress, type ExportRef } from '../model.ts';
import { manifestOf, README, type ExportSummary, type SecretPlace, type Workspace } from './manifest.ts';
import type { ArchiveSource, NextLines } from './source.ts';
import { createArchiveWriter, type ArchiveWriter } from './writer.ts';

/** What a workspace has made, as files say it. */
interface ManifestLine {
  kind: string;
  name: string;
  content: Record<string, unknown>;
}

export interface PackDependencies {
  source: ArchiveSource;
  files: Pick<FileStore, 'put' | 'getStream'>;
  /** Reads in the snapshot that it is called in. */
  manifests: (workspace: Workspace) => Promise<readonly ManifestLine[]>;
}

export interface Packed {
  sizeBytes: number;
  sha256: string;
  summary: ExportSummary;
}

interface Packing extends ExportRef {
  /** The parts of the archive go there. */
  folder: string;
  /** It is kept up to date while the archive is made. */
  progress: ExportProgress;
  signal: AbortSignal;
}

type FilesFound = Pick<ExportSummary, 'files' | 'file_bytes' | 'missing_files' | 'missing'>;

const MANIFESTS_A_PAGE = 50;
const MAX_NAMED = 1_000;

export async function packWorkspace(needs: PackDependencies, packing: Packing): Promise<Packed> {
  const { signal, progress, folder } = packing;
  const spool = await openSpool('aos-export');
  const parts = createPartsWriter({ files: needs.files, folder, spool: spool.path, partBytes: PART_BYTES });
  const writer = createArchiveWriter(parts.sink, { at: new Date(), signal });
  try {
    await writer.add('README.txt', Buffer.from(README));
    const fileList = join(spool.path, 'files.jsonl');
    const { customerId } = packing;
    const read = await needs.source.inSnapshot(
      { statements: statementsOf(customerId), facts: () => readFacts(needs, customerId) },
      (facts, next) => packRows(facts, next, packing, writer, fileList),
    );
    progress.phase = 'files';
    await parts.release();
    const files = await packFiles(needs.files, packing, writer, { fileList, spool: spool.path });
    progress.phase = 'closing';
    const summary = { ...read.summary, ...files };
    await writer.close((sums) => manifestOf({ ...read, exportId: packing.exportId, summary, sums }));
    return { ...(await parts.finish()), summary };
  } finally {
    writer.abandon();
    await spool.close();
  }
}

/** In the order of the archive: the rows of each table, and where the bytes of its files lie. */
const statementsOf = (customerId: string) =>
  BROUGHT.flatMap((content) => {
    const files = filesOf(content, customerId);
    return [linesOf(content, customerId), ...(files ? [files] : [])];
  });

async function readFacts({ source, manifests }: PackDependencies, customerId: string) {
  const asOf = await source.now();
  const workspace = await source.workspace(customerId);
  return { asOf, workspace, made: await manifests(workspace), places: await source.secretPlaces(customerId) };
}

async function packRows(
  { asOf, workspace, made, places }: Awaited<ReturnType<typeof readFacts>>,
  next: NextLines,
  { progress, signal }: Packing,
  writer: ArchiveWriter,
  fileList: string,
) {
  const tables: Record<string, number> = {};
  const note = (rows: number) => {
    signal.throwIfAborted();
    progress.rows += rows;
  };
  for (const { table, file } of BROUGHT) {
    const rows = await writer.addLines(`rows/${table}`, next(), note);
    if (rows > 0) tables[table] = rows;
    if (file) await appendLines(fileList, next());
    progress.tables += 1;
  }
  await writer.addLines('manifests', paged(made), () => {});
  const secrets: SecretPlace[] = [
    ...places.map(({ field, ...place }) => ({ ...place, ...(field !== null && { field }) })),
    ...made.flatMap(({ kind, name, content }) =>
      variablesIn(content).map((variable) => ({ kind: 'variable' as const, name: variable, field: `${kind}/${name}` })),
    ),
  ];
  const rows = Object.values(tables).reduce((sum, count) => sum + count, 0);
  return { asOf, workspace, secrets, summary: { tables, rows, secrets: secrets.length } };
}

async function packFiles(
  files: Pick<FileStore, 'getStream'>,
  { progress, signal }: Packing,
  writer: ArchiveWriter,
  { fileList, spool }: { fileList: string; spool: string },
): Promise<FilesFound> {
  const found: FilesFound = { files: 0, file_bytes: 0, missing_files: [], missing: 0 };
  // Its size stands before it in the archive, and is known only at its end.
  const whole = join(spool, 'file');
  for await (const line of createInterface({ input: createReadStream(fileList) })) {
    signal.throwIfAborted();
    const { path, key } = fieldsOf(parseJson(line));
    if (typeof path !== 'string' || typeof key !== 'string')
      throw new Error('the list of files has a line of another form');
    try {
      const to = createWriteStream(whole, { mode: 0o600 });
      await pipeline(await files.getStream(key), maskPageKeys(), to, { signal });
    } catch (error) {
      if (!isMissing(error)) throw error;
      found.missing += 1;
      if (found.missing_files.length < MAX_NAMED) found.missing_files.push(path);
      continue;
    }
    await writer.addFile(path, whole);
    found.files += 1;
    found.file_bytes += (await stat(whole)).size;
    progress.files += 1;
  }
  return found;
}

/** A local folder says only while it is read that there is no such file. */
const isMissing = (error: unknown): boolean =>
  error instanceof FileNotFoundError || (isRecord(error) && error.code === 'ENOENT');

async function appendLines(path: string, pages: AsyncIterable<string[]>): Promise<void> {
  const to = createWriteStream(path, { flags: 'a', mode: 0o600 });
  await pipeline(async function* () {
    for await (const lines of pages) for (const line of lines) yield `${line}\n`;
  }, to);
}

async function* paged(lines: readonly ManifestLine[]): AsyncGenerator<string[]> {
  for (let from = 0; from < lines.length; from += MANIFESTS_A_PAGE) {
    yield lines.slice(from, from + MANIFESTS_A_PAGE).map((line) => JSON.stringify(line));
  }
}

/** Names of variables that stand in the place of secrets. */
function variablesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(variablesIn);
  if (!isRecord(value)) return [];
  const { env } = value;
  if (typeof env === 'string' && Object.keys(value).length === 1) return [env];
  return Object.values(value).flatMap(variablesIn);
}
