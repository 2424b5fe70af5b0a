/** Looks at what files say and at what there is, and decides what is to be done; or says all that is wrong. Writes nothing. */
import { hmacSha256 } from '../../platform/core/crypto.ts';
import { present } from '../../platform/core/present.ts';
import { Problem } from '../../platform/core/problem.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import type { GivenManifests } from './contract.ts';
import { canonical } from '../../platform/core/json.ts';
import type { Kind, Known, WantedManifest } from './kind.ts';
import { FOLDERS, MANIFEST_KINDS, MAX_FAULTS, MAX_REFERENCES, type Fault, type ManifestKind } from './model.ts';
import { missingReferences } from './references.ts';
import { keptSecretFaults, withSecrets } from './secrets.ts';
import type { ManifestStore, OriginRow } from './store.ts';

/** What is to be done with a manifest. */
interface Planned {
  action: 'create' | 'update' | 'unchanged';
  kind: ManifestKind;
  wanted: WantedManifest;
  before: Known | undefined;
  /** Its place in the request. */
  at: number;
  file: string | undefined;
}

/** Something that came from files and is in them no more. */
export interface Orphan {
  kind: ManifestKind;
  name: string;
  file: string | null;
  /** Undefined where somebody has deleted it already. */
  before: Known | undefined;
  /** People made it, before a file named it or since it was deleted. */
  isByHand: boolean;
}

/** @returns what is deleted, and what stays although it is in the files no more: what people made stays theirs */
export const divided = (orphans: readonly Orphan[], { prune }: Pick<GivenManifests, 'prune'>) => ({
  pruned: orphans.filter(({ isByHand }) => prune && !isByHand),
  kept: orphans.filter(({ isByHand }) => !prune || isByHand),
});

/** By kind and name. */
type Looked = Map<string, Known>;

export const keyOf = (kind: ManifestKind, name: string): string => `${kind}/${name}`;
const byKey = ([a]: readonly unknown[], [b]: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1);

interface PlacedFault extends Fault {
  at: number;
}

interface Dependencies {
  store: Pick<ManifestStore, 'origins' | 'madeByFiles'>;
  kinds: readonly Kind[];
  /** What stands for a plan is made with it: nobody can try secrets on it. */
  secret: string;
}

export type Decided = Awaited<ReturnType<ReturnType<typeof createDeciding>['decide']>>;

export function createDeciding({ store, kinds, secret }: Dependencies) {
  const byKind = new Map(kinds.map((kind) => [kind.kind, kind]));
  const kindOf = (kind: ManifestKind): Kind => present(byKind.get(kind), `the kind ${kind}`);

  /** @returns what the workspace has of what is named */
  async function look(customerId: string, names: readonly { kind: ManifestKind; name: string }[]): Promise<Looked> {
    const looked: Looked = new Map();
    for (const kind of kinds) {
      const ofKind = new Set(names.filter((one) => one.kind === kind.kind).map(({ name }) => name));
      if (ofKind.size === 0) continue;
      for (const one of await kind.known(customerId, ofKind)) looked.set(keyOf(kind.kind, one.name), one);
    }
    return looked;
  }

  const namedIn = ({ manifests }: GivenManifests) =>
    manifests.map(({ kind, content }) => ({ kind, name: String(content[kindOf(kind).nameField]) }));

  /** Leaves out what cannot be read, and says why. @throws Problem validation where there are too many references */
  async function parse(customerId: string, { manifests, secrets = {} }: GivenManifests, looked: Looked) {
    const planned: Planned[] = [];
    const faults: PlacedFault[] = [];
    const seen = new Map<string, string>();
    for (const [at, { kind, content: given, file }] of manifests.entries()) {
      // To say what may have been meant takes time for each fault, and these are all that are told.
      if (faults.length >= MAX_FAULTS) break;
      const { nameField, secrets: places, parse: read } = kindOf(kind);
      const before = looked.get(keyOf(kind, String(given[nameField])));
      const resolved = places ? withSecrets(places, given, { secrets, before: before?.content }) : undefined;
      const isWhole = !resolved || resolved.faults.length === 0;
      const wanted = isWhole ? await read(resolved?.content ?? given) : resolved;
      if ('faults' in wanted) {
        faults.push(...wanted.faults.map((fault) => ({ ...fault, at })));
        continue;
      }
      if (places && resolved && before) {
        const moved = keptSecretFaults(places, resolved.staying, before.content, wanted.content);
        faults.push(...moved.map((fault) => ({ ...fault, at })));
      }
      const key = keyOf(kind, wanted.name);
      const other = seen.get(key);
      if (other !== undefined)
        faults.push({ at, path: [], message: `${other} is of the same ${kind}, ${wanted.name}` });
      seen.set(key, file ?? `manifests[${at}]`);
      const isSame = before !== undefined && canonical(before.content) === canonical(wanted.content);
      const action = before === undefined ? 'create' : isSame ? 'unchanged' : 'update';
      planned.push({ action, kind, wanted, before, at, file });
    }
    const references = planned.reduce((sum, { wanted }) => sum + wanted.references.length, 0);
    if (references > MAX_REFERENCES) {
      const message = `the files name ${references} things, and one plan takes ${MAX_REFERENCES}: apply a part of them`;
      throw refused([{ at: 0, path: [], message }]);
    }
    return { planned: MANIFEST_KINDS.flatMap((kind) => planned.filter((one) => one.kind === kind)), faults };
  }

  /** What is seen, in short: whatever else is there when it is applied, it is another plan. */
  const stateOf = (looked: Looked): string =>
    hmacSha256(secret, canonical([...looked].map(([key, { content }]) => [key, content]).sort(byKey))).slice(0, 32);

  /** @returns what came from files of this source, is in them no more, and is nobody else's file now */
  async function orphansOf(
    customerId: string,
    origins: readonly OriginRow[],
    given: GivenManifests,
    looked: Looked,
  ): Promise<Orphan[]> {
    const inFiles = new Set(namedIn(given).map(({ kind, name }) => keyOf(kind, name)));
    const left = origins.filter(({ source, kind, name }) => source === given.source && !inFiles.has(keyOf(kind, name)));
    const byFiles = new Set<string>();
    for (const kind of new Set(left.map((one) => one.kind))) {
      const names = left.filter((one) => one.kind === kind).map(({ name }) => name);
      for (const name of await store.madeByFiles(customerId, kind, names)) byFiles.add(keyOf(kind, name));
    }
    return left
      .map(({ kind, name, file }) => {
        const before = looked.get(keyOf(kind, name));
        return { kind, name, file, before, isByHand: before !== undefined && !byFiles.has(keyOf(kind, name)) };
      })
      .sort((a, b) => MANIFEST_KINDS.indexOf(b.kind) - MANIFEST_KINDS.indexOf(a.kind));
  }

  async function see(customerId: string, given: GivenManifests) {
    const origins = await store.origins(customerId);
    const looked = await look(customerId, [...namedIn(given), ...origins]);
    return { origins, looked, state: stateOf(looked) };
  }

  /** @throws Problem validation where the whole cannot be, before anything of it is */
  async function decide({ customerId }: Pick<Caller, 'customerId'>, given: GivenManifests) {
    const { origins, looked, state } = await see(customerId, given);
    const { planned, faults } = await parse(customerId, given, looked);
    const orphans = await orphansOf(customerId, origins, given, looked);
    const gone = new Set(divided(orphans, given).pruned.map(({ kind, name }) => keyOf(kind, name)));
    for (const one of planned) {
      if (one.action === 'unchanged') continue;
      faults.push(...(await one.wanted.check(customerId)).map((fault) => ({ ...fault, at: one.at })));
    }
    faults.push(...(await missingReferences(customerId, planned, { kindOf, gone, inFiles: namedIn(given) })));
    if (faults.length > 0) throw refused(faults);
    return { planned, orphans, origins, state };
  }

  return {
    kindOf,
    decide,
    look,
    stateNow: async (customerId: string, given: GivenManifests) => (await see(customerId, given)).state,
  };
}

const refused = (faults: readonly PlacedFault[]): Problem =>
  new Problem(
    'validation',
    faults.slice(0, MAX_FAULTS).map(({ at, path, message }) => ({
      loc: ['body', 'manifests', at, 'content', ...path],
      msg: message,
      type: 'manifest',
    })),
  );

/** Says of which manifest a failure is: there are many in one request. */
export function named(error: unknown, kind: ManifestKind, name: string): unknown {
  if (!(error instanceof Problem) || typeof error.detail !== 'string') return error;
  return new Problem(error.code, `${FOLDERS[kind]}/${name}: ${error.detail}`, error);
}
