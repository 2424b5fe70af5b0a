/** What a file of an archive is, by its name. A name is never a place on this machine, or a key of the file store. */
import { BROUGHT } from '../../exports/store/contents.ts';
import { ArchiveError } from './refused.ts';
import type { Entry } from './entries.ts';

export type Place =
  | { kind: 'rows'; table: string }
  | { kind: 'file'; table: string; row: string }
  | { kind: 'manifests' | 'sums' | 'manifest' | 'readme' };

/** Lines and lists are held in memory whole. */
const MAX_HELD = 64 * 1024 ** 2;
const MAX_FILE = 4 * 1024 ** 3;

const TABLES = new Set(BROUGHT.map(({ table }) => table));
const WITH_FILES = new Set(BROUGHT.filter(({ file }) => file).map(({ table }) => table));
const FIXED = { 'README.txt': 'readme', SHA256SUMS: 'sums', 'manifest.json': 'manifest' } as const;

/** @throws ArchiveError archive_refused */
export function placeOf({ name, size }: Pick<Entry, 'name' | 'size'>): Place {
  const place = read(name);
  if (!place) throw new ArchiveError('archive_refused', `an archive of a workspace has no ${shown(name)}`);
  const most = place.kind === 'file' ? MAX_FILE : MAX_HELD;
  if (size > most) throw new ArchiveError('archive_refused', `${shown(name)} has more than ${most} bytes`);
  return place;
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 120).toWellFormed());

function read(name: string): Place | undefined {
  if (name === 'README.txt' || name === 'SHA256SUMS' || name === 'manifest.json') return { kind: FIXED[name] };
  const [, folder = '', table = '', last = ''] =
    /^(rows|files|manifests)\/(?:([a-z_]+)\/)?([\w-]{1,100}(?:\.jsonl)?)$/.exec(name) ?? [];
  if (folder === 'manifests' && table === '' && isNumbered(last)) return { kind: 'manifests' };
  if (folder === 'rows' && TABLES.has(table) && isNumbered(last)) return { kind: 'rows', table };
  if (folder === 'files' && WITH_FILES.has(table) && !last.includes('.')) return { kind: 'file', table, row: last };
  return undefined;
}

const isNumbered = (last: string): boolean => /^\d{6}\.jsonl$/.test(last);
