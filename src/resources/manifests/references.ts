/** Finds what manifests name and nobody has: neither the workspace, nor what ships, nor another of the files. */
import { nearest } from '../../platform/core/nearest.ts';
import type { Kind, Wanted } from './kind.ts';
import { MANIFEST_KINDS, type Fault, type ManifestKind } from './model.ts';

interface Planned {
  action: string;
  kind: ManifestKind;
  wanted: Wanted;
  at: number;
}

interface Around {
  kindOf: (kind: ManifestKind) => Kind;
  /** Will be deleted, by kind and name. */
  gone: ReadonlySet<string>;
}

/**
 * Of what stays as it is, only what goes with this is looked at: somebody may have deleted by hand what it names, which is
 * another matter.
 */
export async function missingReferences(
  customerId: string,
  planned: readonly Planned[],
  { kindOf, gone }: Around,
): Promise<(Fault & { at: number })[]> {
  const faults: (Fault & { at: number })[] = [];
  const isGone = ({ kind, name }: { kind: ManifestKind; name: string }) => gone.has(`${kind}/${name}`);
  const asked = planned.flatMap(({ action, wanted, at }) =>
    wanted.references
      .filter((reference) => action !== 'unchanged' || isGone(reference))
      .map((reference) => ({ ...reference, at })),
  );
  for (const kind of MANIFEST_KINDS) {
    const ofKind = asked.filter((reference) => reference.kind === kind);
    if (ofKind.length === 0) continue;
    const inFiles = new Set(planned.filter((one) => one.kind === kind).map(({ wanted }) => wanted.name));
    const others = [...new Set(ofKind.map(({ name }) => name).filter((name) => !inFiles.has(name)))];
    const existing = others.length === 0 ? new Set<string>() : await kindOf(kind).existing(customerId, others);
    const missing = ofKind.filter((one) => !inFiles.has(one.name) && (isGone(one) || !existing.has(one.name)));
    if (missing.length === 0) continue;
    const known = [...inFiles, ...(await kindOf(kind).suggestions(customerId))];
    faults.push(
      ...missing.map((one) => {
        const { name, path, at } = one;
        if (isGone(one)) return { at, path, message: `the ${kind} "${name}" is in the files no more, and is pruned` };
        const near = nearest(name, known);
        return { at, path, message: `there is no ${kind} "${name}"${near ? `; did you mean "${near}"?` : ''}` };
      }),
    );
  }
  return faults;
}
