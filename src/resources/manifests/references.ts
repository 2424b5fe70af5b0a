/** Finds what manifests name and nobody has: neither the workspace, nor what ships, nor another of the files. */
import { nearest } from '../../platform/core/nearest.ts';
import { inBatches } from '../../platform/db/in-batches.ts';
import type { Kind, WantedManifest } from './kind.ts';
import { MANIFEST_KINDS, MAX_FAULTS, type Fault, type ManifestKind } from './model.ts';

const SEARCHES_AT_ONCE = 3;

interface Planned {
  action: string;
  kind: ManifestKind;
  wanted: WantedManifest;
  at: number;
}

interface Around {
  kindOf: (kind: ManifestKind) => Kind;
  /** Will be deleted, by kind and name. */
  gone: ReadonlySet<string>;
  /** What the files are of, also those that cannot be read. */
  inFiles: readonly { kind: ManifestKind; name: string }[];
}

/**
 * Of what stays as it is, only what goes with this is looked at: somebody may have deleted by hand what it names, which is
 * another matter.
 * @returns as many faults as are told, and no more
 */
export async function missingReferences(
  customerId: string,
  planned: readonly Planned[],
  { kindOf, gone, inFiles: named }: Around,
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
    const inFiles = new Set(named.filter((one) => one.kind === kind).map(({ name }) => name));
    const others = [...new Set(ofKind.map(({ name }) => name).filter((name) => !inFiles.has(name)))];
    const existing = new Set(await inBatches(others, (names) => kindOf(kind).existing(customerId, names)));
    const missing = ofKind.filter((one) => !inFiles.has(one.name) && (isGone(one) || !existing.has(one.name)));
    if (missing.length === 0) continue;
    const known = [...inFiles, ...(await kindOf(kind).suggestions(customerId))];
    for (const one of missing) {
      // Looking for what may have been meant costs more than anything else here, so nothing is looked for in vain.
      if (faults.length >= MAX_FAULTS) return faults;
      const { name, path, at } = one;
      if (isGone(one)) {
        faults.push({ at, path, message: `the ${kind} "${name}" is in the files no more, and is pruned` });
        continue;
      }
      await letOthersIn(faults.length);
      const near = nearest(name, known);
      faults.push({ at, path, message: `there is no ${kind} "${name}"${near ? `; did you mean "${near}"?` : ''}` });
    }
  }
  return faults;
}

/** A search for a name takes milliseconds, so requests of others get their turn between some of them. */
async function letOthersIn(searches: number): Promise<void> {
  if (searches % SEARCHES_AT_ONCE === 0) await new Promise(setImmediate);
}
