/** What documents of Office have in common: parts, and relations between them. */
import type { Archive } from './archive.ts';
import { attribute, visitXml } from './xml.ts';

/** @returns the names or addresses that a part refers to, by the ids that it has for them */
export async function relationsOf(archive: Archive, part: string): Promise<Map<string, string>> {
  const slash = part.lastIndexOf('/') + 1;
  const bytes = await archive.read(`${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`);
  const relations = new Map<string, string>();
  if (!bytes) return relations;
  visitXml(bytes, {
    open(name, attributes) {
      const [id, target] = [attribute(attributes, 'Id'), attribute(attributes, 'Target')];
      if (name !== 'Relationship' || id === undefined || target === undefined) return;
      relations.set(id, attribute(attributes, 'TargetMode') === 'External' ? target : resolved(part, target));
    },
  });
  return relations;
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
