/**
 * Brings a workspace to what its files say, as a whole or not at all: everything is looked at before anything is written, and
 * everything is written in one transaction. What Temporal has to follow is told afterwards, and by housekeeping where that
 * fails.
 */
import { hmacSha256 } from '../../platform/core/crypto.ts';
import type { Log } from '../../platform/core/log.ts';
import { present } from '../../platform/core/present.ts';
import { Problem } from '../../platform/core/problem.ts';
import type { Database } from '../../platform/db/client.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import type { Given } from './contract.ts';
import { schemaOf } from './schemas.ts';
import { canonical, differences } from './diff.ts';
import type { Kind, Known, Later, Wanted, Write } from './kind.ts';
import { masked, withSecrets, withVariables } from './secrets.ts';
import { FOLDERS, MANIFEST_KINDS, type Content, type Fault, type ManifestKind } from './model.ts';
import { missingReferences } from './references.ts';
import type { ManifestStore } from './store.ts';

export type ManifestService = ReturnType<typeof createManifestService>;

interface Dependencies {
  db: Pick<Database, 'transaction'>;
  store: ManifestStore;
  kinds: readonly Kind[];
  /** What stands for a plan is made with it: nobody can try secrets on it. */
  secret: string;
  log: Log;
}

export interface Planned {
  action: 'create' | 'update' | 'unchanged';
  kind: ManifestKind;
  wanted: Wanted;
  before: Known | undefined;
  /** Its place in the request. */
  at: number;
  file: string | undefined;
}

/** By kind and name. */
type Looked = Map<string, Known>;

export const createManifestService = ({ db, store, kinds, secret, log }: Dependencies) => {
  const byKind = new Map(kinds.map((kind) => [kind.kind, kind]));
  const kindOf = (kind: ManifestKind): Kind => present(byKind.get(kind), `the kind ${kind}`);

  /** @returns what the workspace has of what the manifests are of */
  async function look(customerId: string, { manifests }: Given): Promise<Looked> {
    const looked: Looked = new Map();
    for (const kind of kinds) {
      const ofKind = manifests.filter((one) => one.kind === kind.kind);
      if (ofKind.length === 0) continue;
      const names = new Set(ofKind.map(({ content }) => String(content[kind.nameField])));
      for (const one of await kind.known(customerId, names)) looked.set(keyOf(kind.kind, one.name), one);
    }
    return looked;
  }

  /** @throws Problem validation where a manifest cannot be read, or two are of the same thing */
  async function parse(customerId: string, { manifests, secrets = {} }: Given, looked: Looked): Promise<Planned[]> {
    const planned: Planned[] = [];
    const faults: PlacedFault[] = [];
    const seen = new Map<string, string>();
    for (const [at, { kind, content: given, file }] of manifests.entries()) {
      const { nameField, secrets: places, parse: read } = kindOf(kind);
      const before = looked.get(keyOf(kind, String(given[nameField])));
      const resolved = places ? withSecrets(places, given, { secrets, before: before?.content }) : undefined;
      const isWhole = !resolved || resolved.faults.length === 0;
      const wanted = isWhole ? await read(customerId, resolved?.content ?? given) : resolved;
      if ('faults' in wanted) {
        faults.push(...wanted.faults.map((fault) => ({ ...fault, at })));
        continue;
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
    if (faults.length > 0) throw refused(faults);
    return MANIFEST_KINDS.flatMap((kind) => planned.filter((one) => one.kind === kind));
  }

  /** @throws Problem validation where the whole cannot be, before anything of it is */
  async function decide(customerId: string, given: Given) {
    const looked = await look(customerId, given);
    const planned = await parse(customerId, given, looked);
    const faults: PlacedFault[] = [];
    for (const one of planned) {
      if (one.action === 'unchanged') continue;
      faults.push(...(await one.wanted.check()).map((fault) => ({ ...fault, at: one.at })));
    }
    faults.push(...(await missingReferences(customerId, planned, kindOf)));
    if (faults.length > 0) throw refused(faults);
    return { planned, state: stateOf(looked) };
  }

  /** What is seen, in short: whatever else is there when it is applied, it is another plan. */
  const stateOf = (looked: Looked): string =>
    hmacSha256(secret, canonical([...looked].map(([key, { content }]) => [key, content]).sort(byKey))).slice(0, 32);

  return {
    /** What a file of each kind may say, as JSON Schema. */
    schemas: Object.fromEntries(kinds.map(({ kind, shape }) => [kind, () => schemaOf(shape)])),

    async export(customerId: string) {
      const data = [];
      for (const kind of kinds) {
        for (const { name, content } of await kind.known(customerId)) {
          const told = kind.secrets ? withVariables(kind.secrets, content, name) : content;
          data.push({ kind: kind.kind, name, content: { ...kind.shortened(told) } });
        }
      }
      return { data, meta: { total: data.length } };
    },

    /** @throws Problem validation */
    async plan({ customerId }: Caller, given: Given) {
      const { planned, state } = await decide(customerId, given);
      return shown(customerId, planned, state);
    },

    /** @throws Problem validation, plan_outdated, and those of what is written */
    async apply({ customerId }: Caller, given: Given & { state?: string | undefined }) {
      const { planned, state } = await decide(customerId, given);
      if (given.state !== undefined && given.state !== state) throw outdated();
      // Before anything is written, since what is written is not to be seen as what there was.
      const plan = await shown(customerId, planned, state);
      const writes: { kind: ManifestKind; name: string; write: Write }[] = [];
      for (const { action, kind, wanted, before } of planned) {
        if (action === 'unchanged') continue;
        writes.push({ kind, name: wanted.name, write: await wanted.prepare(before?.content) });
      }
      const later: Later[] = [];
      await db.transaction(async () => {
        await store.lock(customerId);
        if (stateOf(await look(customerId, given)) !== state) throw outdated();
        for (const { kind, name, write } of writes) {
          const rest = await write().catch((error: unknown) => {
            throw named(error, kind, name);
          });
          if (rest) later.push(rest);
        }
      });
      for (const rest of later) {
        await rest().catch((err: unknown) =>
          log.warn({ err }, 'what follows a manifest could not be told at once; housekeeping will mend it'),
        );
      }
      return plan;
    },
  };

  async function shown(customerId: string, planned: readonly Planned[], state: string) {
    const changes = [];
    for (const { action, kind, wanted, before, file } of planned) {
      if (action === 'unchanged') continue;
      const { name } = wanted;
      changes.push({
        action,
        kind,
        name,
        file: file ?? null,
        fields: before ? differencesOf(kindOf(kind), before.content, wanted.content) : [],
        affects: before ? await store.affectedBy(customerId, kind, name, before.content, wanted.content) : [],
      });
    }
    return { changes, unchanged: planned.length - changes.length, state };
  }
};

const differencesOf = ({ secrets: places }: Kind, before: Content, after: Content) =>
  places ? differences(masked(places, before, undefined), masked(places, after, before)) : differences(before, after);

const keyOf = (kind: ManifestKind, name: string): string => `${kind}/${name}`;
const byKey = ([a]: readonly unknown[], [b]: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1);

interface PlacedFault extends Fault {
  at: number;
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
const MAX_FAULTS = 100;

const outdated = (): Problem =>
  new Problem('plan_outdated', 'somebody has changed what the plan is about since it was made: plan again');

/** Says of which manifest a failure is: there are many in one request. */
function named(error: unknown, kind: ManifestKind, name: string): unknown {
  if (!(error instanceof Problem) || typeof error.detail !== 'string') return error;
  return new Problem(error.code, `${FOLDERS[kind]}/${name}: ${error.detail}`, error);
}
