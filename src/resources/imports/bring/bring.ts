/**
 * Brings what is in an archive into a workspace, file by file of it. Each is brought and noted in one transaction where that
 * can be; whatever is repeated finds that it is there.
 */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Problem } from '../../../platform/core/problem.ts';
import { fieldsOf } from '../../../platform/core/record.ts';
import type { Database } from '../../../platform/db/client.ts';
import type { FileStore } from '../../../platform/files/files.ts';
import { entriesOf, type Entry } from '../archive/entries.ts';
import { linesIn, type Line } from '../archive/lines.ts';
import { placeOf } from '../archive/names.ts';
import { noteBrought, noteRefused, type ImportResult } from '../model.ts';
import { keepIds, renewIds, type Renew } from './ids.ts';
import { ended, faultOf, insertRows, renewed } from './rows.ts';
import { BROUGHT_TABLES } from './tables.ts';

/** @returns whether it was not there yet; undefined: it is none of these. It throws a Problem that says why it cannot be brought. */
type Bring = (line: Line) => Promise<boolean | undefined>;

export interface BringDependencies {
  db: Pick<Database, 'rows' | 'transaction'>;
  files: Pick<FileStore, 'putStream'>;
  /** What the workspace has of what files say. */
  bringManifest: (customerId: string, line: Line) => Promise<boolean>;
  bringMemory: (customerId: string, line: Line) => Promise<boolean | undefined>;
  /** Where the bytes of a row belong; undefined where it has none of an import. */
  fileKeyOf: (customerId: string, table: string, id: string) => Promise<string | undefined>;
}

export interface Bringing {
  customerId: string;
  sizeBytes: number;
  asOf: string;
  areIdsTaken: boolean;
  /** So many files of the archive are brought already. */
  position: number;
  result: ImportResult;
  signal: AbortSignal;
  /** Notes in the record what was brought; it joins the transaction that it is called in. */
  note: (position: number, result: ImportResult) => Promise<void>;
}

export async function bringArchive(needs: BringDependencies, archive: Readable, bringing: Bringing): Promise<void> {
  const renew = bringing.areIdsTaken ? renewIds(bringing.customerId) : keepIds;
  for await (const entry of entriesOf(archive, bringing.sizeBytes)) {
    bringing.signal.throwIfAborted();
    if (entry.index < bringing.position) continue;
    await bringEntry(needs, bringing, entry, renew);
  }
}

async function bringEntry(needs: BringDependencies, bringing: Bringing, entry: Entry, renew: Renew): Promise<void> {
  const { result, note } = bringing;
  const place = placeOf(entry);
  const done = () => note(entry.index + 1, result);
  if (place.kind === 'file') {
    await bringFile(needs, bringing, { ...place, body: entry.body }, renew);
    return done();
  }
  if (place.kind === 'manifests') {
    const lines = linesIn(await buffer(entry.body), entry.name);
    await eachOf(bringing, 'manifests', lines, (line) => needs.bringManifest(bringing.customerId, line));
    return done();
  }
  if (place.kind !== 'rows') return done();
  const { table } = place;
  if (table === 'memory_entries') {
    const lines = linesIn(await buffer(entry.body), entry.name);
    await eachOf(bringing, table, lines, (line) => needs.bringMemory(bringing.customerId, line));
    return done();
  }
  if (!(table in BROUGHT_TABLES)) return done();
  const rows = rowsOf(bringing, table, linesIn(await buffer(entry.body), entry.name), renew);
  try {
    await needs.db.transaction(async () => {
      const { fitting, added } = await insertRows(needs.db, bringing.customerId, table, rows);
      count(result, table, rows.length, { fitting, added });
      await done();
    });
  } catch (error) {
    if (!isOfTheRow(error)) throw error;
    // One of them is none that this database takes: the others are.
    for (const row of rows) await bringRow(needs, bringing, table, row);
    await done();
  }
}

function rowsOf({ result, asOf }: Bringing, table: string, lines: readonly Line[], renew: Renew): Line[] {
  return lines.flatMap((line) => {
    const fault = faultOf(table, line);
    if (fault !== undefined) {
      noteRefused(result, `a row of ${table}`, fault);
      return [];
    }
    const over = ended(table, line, asOf);
    if (over && (table === 'runs' || table === 'projects')) result.ended += 1;
    return [renewed(table, over ?? line, renew)];
  });
}

async function bringRow({ db }: BringDependencies, { customerId, result }: Bringing, table: string, row: Line) {
  try {
    count(result, table, 1, await insertRows(db, customerId, table, [row]));
  } catch (error) {
    if (!isOfTheRow(error)) throw error;
    noteRefused(result, `a row of ${table}`, 'a value of it is none that the table takes');
  }
}

function count(
  result: ImportResult,
  table: string,
  given: number,
  { fitting, added }: { fitting: number; added: number },
) {
  noteBrought(result.brought, table, added);
  noteBrought(result.there, table, fitting - added);
  const left = given - fitting;
  if (left > 0) {
    const what = left === 1 ? `a row of ${table}` : `${left} rows of ${table}`;
    noteRefused(result, what, 'what it belongs to is not in the workspace', left);
  }
}

/** By the class of the error: data that is none, breaks a constraint, or is more than an index takes. */
function isOfTheRow(error: unknown): boolean {
  const { code } = fieldsOf(error instanceof Error && error.cause ? error.cause : error);
  return typeof code === 'string' && /^(22|23|54)/.test(code);
}

/** One may name another one that stands behind it: what cannot be brought is tried again for as long as that helps. */
async function eachOf({ result, signal }: Bringing, what: string, lines: readonly Line[], bring: Bring): Promise<void> {
  for (let left = lines; ;) {
    const refused: { line: Line; problem: Problem }[] = [];
    for (const line of left) {
      signal.throwIfAborted();
      try {
        const isNew = await bring(line);
        if (isNew !== undefined) noteBrought(isNew ? result.brought : result.there, what, 1);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        refused.push({ line, problem: error });
      }
    }
    if (refused.length > 0 && refused.length < left.length) {
      left = refused.map(({ line }) => line);
      continue;
    }
    for (const { line, problem } of refused) noteRefused(result, nameOf(line) || what, wordsOf(problem));
    return;
  }
}

const nameOf = (line: Line): string =>
  [line.kind ?? line.type, line.name ?? line.slug].filter((part) => typeof part === 'string').join(' ');

/** Of bad input, what is wrong with it. */
function wordsOf({ detail, message }: Problem): string {
  const faults = Array.isArray(detail) ? detail.map(fieldsOf).map(({ msg }) => String(msg)) : [];
  return faults.length > 0 ? faults.join('; ') : message;
}

async function bringFile(
  { files, fileKeyOf }: BringDependencies,
  { customerId, result }: Bringing,
  { table, row, body }: { table: string; row: string; body: AsyncIterable<Buffer> },
  renew: Renew,
): Promise<void> {
  const key = table in BROUGHT_TABLES ? await fileKeyOf(customerId, table, renew('uuid', row)) : undefined;
  if (key === undefined)
    return noteRefused(result, `the file of a row of ${table}`, 'its row is not one that was brought');
  await files.putStream(key, Readable.from(body, { objectMode: false }), 'application/octet-stream');
  noteBrought(result.brought, 'files', 1);
}
