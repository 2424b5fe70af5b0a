/** Looks through an archive before anything of it is brought: whether it is whole, and is what its manifest says. */
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { parseJson } from '../../../platform/core/json.ts';
import { fieldsOf } from '../../../platform/core/record.ts';
import { ARCHIVE_FORMAT, ARCHIVE_VERSION } from '../../exports/model.ts';
import { entriesOf, isWhole } from './entries.ts';
import { linesIn } from './lines.ts';
import { placeOf } from './names.ts';
import { ArchiveError } from './refused.ts';

export interface Checked {
  archiveId: string;
  /** The workspace that it is of. */
  source: string;
  asOf: string;
  entries: number;
}

/** These tables have ids that may be taken in this deployment. */
export const WITH_IDS = ['projects', 'runs', 'chat_threads', 'attachments'] as const;

interface Checking {
  sizeBytes: number;
  sha256: string;
  signal: AbortSignal;
  /** Is told of each bunch of ids of a table. */
  seen: (table: (typeof WITH_IDS)[number], ids: string[]) => Promise<void>;
}

/** @throws ArchiveError */
export async function checkArchive(open: () => Readable, checking: Checking): Promise<Checked> {
  const { sizeBytes, sha256, signal } = checking;
  if ((await digestOfPieces(open(), signal)) !== sha256) {
    throw new ArchiveError('archive_damaged', 'it is not the file that was announced');
  }
  try {
    return await look(open(), checking);
  } catch (error) {
    if (!(error instanceof ArchiveError) || error.code === 'archive_damaged') throw error;
    // Damaged bytes look like anything: what was found in them is not what is wrong.
    if (await isWhole(open(), sizeBytes, signal)) throw error;
    throw new ArchiveError('archive_damaged', 'it is not a whole tar.gz');
  }
}

async function look(archive: Readable, { sizeBytes, signal, seen }: Checking): Promise<Checked> {
  const digests = new Map<string, string>();
  let sums: Buffer | undefined;
  let manifest: Buffer | undefined;
  let entries = 0;
  for await (const entry of entriesOf(archive, sizeBytes)) {
    signal.throwIfAborted();
    const place = placeOf(entry);
    const { name } = entry;
    if (manifest) throw new ArchiveError('archive_refused', 'something follows its manifest');
    if (digests.has(name)) throw new ArchiveError('archive_refused', `${name} is in it twice`);
    entries += 1;
    if (place.kind === 'sums') sums = await buffer(entry.body);
    else if (place.kind === 'manifest') manifest = await buffer(entry.body);
    else if (place.kind === 'rows' && isWithIds(place.table)) {
      const bytes = await buffer(entry.body);
      digests.set(name, digestOf(bytes));
      await seen(place.table, idsIn(bytes, name));
    } else digests.set(name, await digestOfPieces(entry.body, signal));
  }
  if (!sums || !manifest) throw new ArchiveError('archive_damaged', 'its manifest is missing');
  const said = saidIn(manifest, digestOf(sums));
  compare(sums.toString(), digests);
  return { ...said, entries };
}

const isWithIds = (table: string): table is (typeof WITH_IDS)[number] => WITH_IDS.some((known) => known === table);

const idsIn = (bytes: Buffer, name: string): string[] =>
  linesIn(bytes, name).flatMap(({ id }) => (typeof id === 'string' ? [id] : []));

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function digestOfPieces(pieces: AsyncIterable<Buffer>, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of pieces) {
    signal.throwIfAborted();
    hash.update(piece);
  }
  return hash.digest('hex');
}

function saidIn(bytes: Buffer, sums: string): Omit<Checked, 'entries'> {
  let manifest: Readonly<Record<string, unknown>>;
  try {
    manifest = fieldsOf(parseJson(bytes.toString()));
  } catch {
    throw new ArchiveError('archive_damaged', 'its manifest cannot be read');
  }
  const { format, version, archive_id: archiveId, as_of: asOf, workspace, sha256sums } = manifest;
  if (format !== ARCHIVE_FORMAT) throw new ArchiveError('archive_unsupported', 'it is no archive of a workspace');
  if (version !== ARCHIVE_VERSION) {
    throw new ArchiveError(
      'archive_unsupported',
      `it is of version ${JSON.stringify(version)}, and ${ARCHIVE_VERSION} is known here`,
    );
  }
  if (sha256sums !== sums) throw new ArchiveError('archive_damaged', 'SHA256SUMS is not what the manifest says');
  const { identity_workspace_id: source } = fieldsOf(workspace);
  const isSaid = [archiveId, asOf, source].every(
    (one) => typeof one === 'string' && one.length > 0 && one.length <= 200,
  );
  if (!isSaid || !UUID.test(String(archiveId)) || Number.isNaN(Date.parse(String(asOf)))) {
    throw new ArchiveError('archive_damaged', 'its manifest does not say of what it is');
  }
  return { archiveId: String(archiveId), source: String(source), asOf: new Date(String(asOf)).toISOString() };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function compare(sums: string, digests: Map<string, string>): void {
  const left = new Map(digests);
  for (const line of sums.split('\n')) {
    if (line === '') continue;
    const [, digest, name = ''] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    if (digest === undefined || left.get(name) !== digest) {
      throw new ArchiveError('archive_damaged', `${JSON.stringify(name.slice(0, 120))} is not what SHA256SUMS says`);
    }
    left.delete(name);
  }
  if (left.size > 0) throw new ArchiveError('archive_refused', 'it has files that SHA256SUMS does not name');
}
