/** Writes what a workspace has as files, one a thing, with the schema beside them that editors complete and check by. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ManifestsExportResponse } from '../../../client/src/api.ts';
import { fieldsOf } from '../../platform/core/record.ts';
import { canonical } from '../../platform/core/json.ts';
import { FOLDERS, MANIFEST_KINDS, type ManifestKind } from '../../resources/manifests/model.ts';
import { isJson, readManifests } from './directory.ts';

type Exported = ManifestsExportResponse['data'][number];

const SCHEMAS = '.schemas';
/** The field by which a thing is known. */
const nameIn = (content: unknown): string => {
  const { slug, name, url } = fieldsOf(content);
  return String(slug ?? name ?? url);
};
const fileNameOf = (name: string): string =>
  name
    .toLowerCase()
    .split(/[^a-z0-9_-]+/)
    .filter(Boolean)
    .join('-')
    .slice(0, 80) || 'unnamed';

/** @returns the files that were written; those that say the same already keep their comments */
export async function writeManifests(directory: string, exported: readonly Exported[]) {
  const { stringify } = await import('yaml');
  const there = await readManifests(directory, { isEmptyFine: true });
  const known = new Map(there.map((one) => [`${one.kind}/${nameIn(one.content)}`, one]));
  const taken = new Set(there.map(({ file }) => file));
  const written: string[] = [];
  for (const { kind, name, content } of exported) {
    const before = known.get(`${kind}/${name}`);
    if (before && canonical(before.content) === canonical(content)) continue;
    const file = before?.file ?? freeName(FOLDERS[kind], fileNameOf(name), taken);
    taken.add(file);
    const schema = `../${SCHEMAS}/${kind}.json`;
    const text = isJson(file)
      ? `${JSON.stringify({ $schema: schema, ...fieldsOf(content) }, null, 2)}\n`
      : `# yaml-language-server: $schema=${schema}\n${stringify(content, { lineWidth: 0, blockQuote: 'literal' })}`;
    await mkdir(join(directory, FOLDERS[kind]), { recursive: true });
    await writeFile(join(directory, file), text);
    written.push(file);
  }
  return { written, same: exported.length - written.length };
}

function freeName(folder: string, name: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) {
    const file = `${folder}/${name}${number === 1 ? '' : `-${number}`}.yaml`;
    if (!taken.has(file)) return file;
  }
}

/** Writes the schema of each kind, as this service has it. */
export async function writeSchemas(directory: string, schemaOf: (kind: ManifestKind) => Promise<unknown>) {
  await mkdir(join(directory, SCHEMAS), { recursive: true });
  for (const kind of MANIFEST_KINDS) {
    const path = join(directory, SCHEMAS, `${kind}.json`);
    const text = `${JSON.stringify(await schemaOf(kind), null, 2)}\n`;
    if ((await readFile(path, 'utf8').catch(() => '')) !== text) await writeFile(path, text);
  }
}
