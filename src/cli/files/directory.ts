/**
 * Reads a directory of YAML and JSON files, one a thing, each in the folder of its kind; and finds the line of whatever is wrong with
 * one of them.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Document } from 'yaml';
import { errorCodeOf } from '../../platform/core/causes.ts';
import { nearest } from '../../platform/core/nearest.ts';
import { fieldsOf, isRecord } from '../../platform/core/record.ts';
import { FOLDERS, MANIFEST_KINDS, type ManifestKind } from '../../resources/manifests/model.ts';
import { CliError } from '../output.ts';
import { environmentNames } from './environment.ts';

export interface ManifestFile {
  kind: ManifestKind;
  /** Below the directory, with `/`. */
  file: string;
  content: Record<string, unknown>;
  /** @returns the line of a field, or of the nearest thing around it that is there; from 1 */
  lineOf(path: readonly PropertyKey[]): number;
}

/** Something that is wrong with a file. */
export interface FileFault {
  file: string;
  line: number;
  message: string;
}

/** Everything that is wrong is told at once, each with its file and line. */
export class FaultyFiles extends CliError {
  readonly faults: readonly FileFault[];
  constructor(faults: readonly FileFault[]) {
    const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
    const lines = faults.map(({ file, line, message }) => `  ${file}:${line}: ${message}`);
    super([`${count}; nothing is changed`, ...lines].join('\n'));
    this.faults = faults;
  }
}

const FOLDER_NAMES = Object.values(FOLDERS);
const isYaml = (name: string): boolean => /\.ya?ml$/i.test(name);
export const isJson = (name: string): boolean => /\.json$/i.test(name);

/** @throws CliError where the directory cannot be read, FaultyFiles where a file cannot be understood */
export async function readManifests(directory: string, { isEmptyFine = false } = {}): Promise<ManifestFile[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    if (isEmptyFine && errorCodeOf(error) === 'ENOENT') return [];
    throw new CliError(`cannot read ${directory}: it is no directory`);
  });
  const faults: FileFault[] = [];
  for (const entry of entries) {
    const near = nearest(entry.name, FOLDER_NAMES);
    if (entry.isDirectory() && near && !FOLDER_NAMES.includes(entry.name)) {
      faults.push({ file: entry.name, line: 1, message: `no kind has this folder; did you mean "${near}"?` });
      // A repository may have JSON of its own beside the folders, such as package.json.
    } else if (entry.isFile() && isYaml(entry.name) && !entry.name.startsWith('.')) {
      const message = `lies in no folder of a kind; there are ${FOLDER_NAMES.join(', ')}`;
      faults.push({ file: entry.name, line: 1, message });
    }
  }
  const manifests: ManifestFile[] = [];
  for (const kind of MANIFEST_KINDS) {
    const folder = FOLDERS[kind];
    const names = await readdir(join(directory, folder)).catch(() => []);
    for (const name of names.filter((one) => isYaml(one) || isJson(one)).sort()) {
      const file = `${folder}/${name}`;
      const read = await parse(await readFile(join(directory, file), 'utf8'), { kind, file });
      if (Array.isArray(read)) faults.push(...read);
      else manifests.push(read);
    }
  }
  if (faults.length > 0) throw new FaultyFiles(faults);
  if (manifests.length === 0 && !isEmptyFine) {
    throw new CliError(`${directory} has no files: they are YAML or JSON, in ${FOLDER_NAMES.join(', ')}`);
  }
  return manifests;
}

async function parse(
  text: string,
  { kind, file }: Pick<ManifestFile, 'kind' | 'file'>,
): Promise<ManifestFile | FileFault[]> {
  const { LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number | undefined): number => (offset === undefined ? 1 : lines.linePos(offset).line);
  if (document.errors.length > 0) {
    return document.errors.map(({ message, pos: [offset] }) => ({ file, line: lineAt(offset), message }));
  }
  const fields: unknown = document.toJS();
  if (!isRecord(fields)) return [{ file, line: 1, message: 'has no fields' }];
  // Editors are told by it what JSON may say; in YAML a comment tells them.
  const { $schema: _, ...content } = fields;
  const places = await placesOf(document);
  return { kind, file, content, lineOf: (path) => lineAt(places(path)) };
}

/** @returns what finds where a field begins, or the nearest thing around it that is there */
async function placesOf({ contents }: Document.Parsed) {
  const { isMap, isScalar, isSeq } = await import('yaml');
  const nameOf = (key: unknown): unknown => (isScalar(key) ? key.value : key);
  const startOf = (node: unknown): number | undefined => {
    const { range } = fieldsOf(node);
    return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : undefined;
  };
  return (path: readonly PropertyKey[]): number | undefined => {
    let node: unknown = contents;
    let place = startOf(node);
    for (const name of path) {
      if (isMap(node)) {
        const pair = node.items.find(({ key }) => String(nameOf(key)) === String(name));
        if (!pair) break;
        place = startOf(pair.key) ?? place;
        node = pair.value;
      } else if (isSeq(node)) {
        node = node.items[Number(name)];
        if (node === undefined) break;
        place = startOf(node) ?? place;
      } else break;
    }
    return place;
  };
}

/** @returns what the service is sent: the files, and the values of the environment that they name */
export function bodyOf(files: readonly ManifestFile[], environment: NodeJS.ProcessEnv) {
  const names = [...new Set(files.flatMap(({ content }) => environmentNames(content)))];
  const secrets = Object.fromEntries(
    names.flatMap((name) => {
      const value = environment[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
  return {
    manifests: files.map(({ kind, file, content }) => ({ kind, file, content })),
    ...(names.length > 0 && { secrets }),
  };
}

/** @returns what the service found wrong, with files and lines; undefined where it is about something else */
export function faultsIn(detail: unknown, files: readonly ManifestFile[]): FaultyFiles | undefined {
  if (!Array.isArray(detail)) return undefined;
  const faults = detail.flatMap((one: unknown): FileFault[] => {
    const { loc, msg } = fieldsOf(one);
    if (!Array.isArray(loc) || loc[1] !== 'manifests') return [];
    const file = files[Number(loc[2])];
    const path: PropertyKey[] = loc.slice(4);
    if (!file) return [];
    const place = path.length === 0 ? '' : `${path.join('.')}: `;
    return [{ file: file.file, line: file.lineOf(path), message: `${place}${String(msg)}` }];
  });
  return faults.length === 0 ? undefined : new FaultyFiles(faults);
}
