/** What documents of Office have in common: parts, and relations between them. */
import type { Archive } from './archive.ts';
import { attribute, visitXml } from './xml.ts';

/** @returns the names or addresses that a part refers to, by the ids that it has for them */
export async function relationsOf(archive: Archive, part: string): Promise<Map<string, string>> {
  const relations = new Map<string, string>();
  await visitRelations(archive, part, ({ id, target }) => relations.set(id, target));
  return relations;
}

/** @returns the parts of a kind that a part has, such as its comments */
export async function partsOf(archive: Archive, part: string, kind: string): Promise<string[]> {
  const parts: string[] = [];
  await visitRelations(archive, part, ({ type, target }) => {
    if (type.endsWith(`/${kind}`)) parts.push(target);
  });
  return parts;
}

interface Relation {
  id: string;
  /** An address, the end of which tells the kind. */
  type: string;
  target: string;
}

async function visitRelations(archive: Archive, part: string, visit: (relation: Relation) => void): Promise<void> {
  const slash = part.lastIndexOf('/') + 1;
  const bytes = await archive.read(`${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`);
  if (!bytes) return;
  visitXml(bytes, {
    open(name, attributes) {
      const [id, target] = [attribute(attributes, 'Id'), attribute(attributes, 'Target')];
      if (name !== 'Relationship' || id === undefined || target === undefined) return;
      const isOutside = attribute(attributes, 'TargetMode') === 'External';
      visit({ id, type: attribute(attributes, 'Type') ?? '', target: isOutside ? target : resolved(part, target) });
    },
  });
}

/** @returns the name in the archive of what a part refers to by a path */
export function resolved(part: string, target: string): string {
  const path = target.startsWith('/') ? [] : part.split('/').slice(0, -1);
  for (const step of target.split('/')) {
    if (step === '..') path.pop();
    else if (step !== '' && step !== '.') path.push(step);
  }
  return path.join('/');
}

/** @returns the part that the document begins with; some programs name it otherwise */
export async function mainPartOf(archive: Archive, usual: string): Promise<string> {
  if (archive.has(usual)) return usual;
  const bytes = await archive.read('_rels/.rels');
  let main: string | undefined;
  if (bytes) {
    visitXml(bytes, {
      open(_, attributes) {
        const type = attribute(attributes, 'Type') ?? '';
        if (type.endsWith('/officeDocument')) main ??= resolved('', attribute(attributes, 'Target') ?? '');
      },
    });
  }
  return main ?? usual;
}
