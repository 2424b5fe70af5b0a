/**
 * Brings a workspace to what its files say, as a whole or not at all: everything is looked at before anything is written, and
 * everything is written in one transaction. What Temporal has to follow is told afterwards, and by housekeeping where that
 * fails.
 */
import { sha256 } from '../../platform/core/crypto.ts';
import type { Log } from '../../platform/core/log.ts';
import { Problem } from '../../platform/core/problem.ts';
import { can } from '../../platform/core/rights.ts';
import type { Database } from '../../platform/db/client.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import type { GivenManifests } from './contract.ts';
import { createDeciding, divided, keyOf, named, type Decided } from './deciding.ts';
import { canonical } from '../../platform/core/json.ts';
import { differences } from './diff.ts';
import type { Kind, AfterCommit, Write } from './kind.ts';
import type { ManifestContent, FieldChange, ManifestKind } from './model.ts';
import { schemaOf } from './schemas.ts';
import { masked, secretReceivers, withoutSecrets, withVariables } from './secrets.ts';
import type { ManifestStore, NewOrigin } from './store.ts';

export type ManifestService = ReturnType<typeof createManifestService>;

interface Dependencies {
  db: Pick<Database, 'transaction'>;
  store: ManifestStore;
  kinds: readonly Kind[];
  secret: string;
  /** Bodies of skills are then for those with the admin stamp alone, here as at their own address. */
  publicVisibility: boolean;
  log: Log;
}

export const createManifestService = ({ db, store, kinds, secret, publicVisibility, log }: Dependencies) => {
  const { kindOf, decide, look, stateNow } = createDeciding({ store, kinds, secret });

  const hashOf = (kind: ManifestKind, content: ManifestContent): string => {
    const { secrets } = kindOf(kind);
    return sha256(canonical(secrets ? withoutSecrets(secrets, content) : content));
  };

  /** @returns what is to be noted of where things are from; what is as it was noted needs nothing */
  const originsOf = ({ planned, origins }: Decided, given: GivenManifests): NewOrigin[] => {
    const known = new Map(origins.map((one) => [keyOf(one.kind, one.name), one]));
    return planned.flatMap(({ action, kind, wanted, file }) => {
      const contentHash = hashOf(kind, wanted.content);
      const before = known.get(keyOf(kind, wanted.name));
      const isNoted =
        action === 'unchanged' &&
        before?.contentHash === contentHash &&
        before.source === given.source &&
        before.file === (file ?? null);
      const isCreated = action === 'create';
      return isNoted ? [] : [{ kind, name: wanted.name, file: file ?? null, contentHash, isCreated }];
    });
  };

  const hidesSkills = (caller: Caller): boolean => publicVisibility && !can(caller, 'skills.read-bodies');

  async function shown(caller: Caller, decided: Decided, given: GivenManifests) {
    const { customerId } = caller;
    const { planned, orphans, state } = decided;
    const there = orphans.filter(({ before }) => before !== undefined);
    const changes = [];
    const { pruned, kept } = divided(there, given);
    for (const { kind, name, file, before } of pruned) {
      const affects = await store.affectedBy(customerId, { kind, name, before: before?.content, after: undefined });
      changes.push({ action: 'delete' as const, kind, name, file, fields: [], secrets: [], affects });
    }
    for (const { action, kind, wanted, before, file } of planned) {
      if (action === 'unchanged') continue;
      const { name, content } = wanted;
      const differing = before ? differencesOf(kindOf(kind), before.content, content) : [];
      const fields = kind === 'skill' && hidesSkills(caller) ? differing.map(withoutBefore) : differing;
      const affects = before
        ? await store.affectedBy(customerId, { kind, name, before: before.content, after: content })
        : [];
      const { secrets: places } = kindOf(kind);
      const secrets = [
        ...(places ? secretReceivers(places, content) : []),
        ...(wanted.credential ? [wanted.credential] : []),
      ];
      changes.push({ action, kind, name, file: file ?? null, fields, secrets, affects });
    }
    const untold = new Set(originsOf(decided, given).map(({ kind, name }) => keyOf(kind, name)));
    const unchanged = planned.filter(({ action }) => action === 'unchanged');
    return {
      changes,
      unchanged: unchanged.length,
      taken_over: unchanged.filter(({ kind, wanted }) => untold.has(keyOf(kind, wanted.name))).length,
      left: kept.map(({ kind, name, file, isByHand }) => ({ kind, name, file, made_by_hand: isByHand })),
      state,
    };
  }

  return {
    /** What a file of each kind may say, as JSON Schema. */
    schemas: Object.fromEntries(kinds.map((kind) => [kind.kind, () => schemaOf(kind)])),

    /** Skills whose bodies the caller may not read are left out: one without a body would be applied as an empty one. */
    async export(caller: Caller) {
      const { customerId } = caller;
      const data = [];
      for (const kind of kinds) {
        if (kind.kind === 'skill' && hidesSkills(caller)) continue;
        for (const { name, content } of await kind.known(customerId)) {
          const told = kind.secrets ? withVariables(kind.secrets, content, name) : content;
          data.push({ kind: kind.kind, name, content: { ...kind.shortened(told) } });
        }
      }
      return { data, meta: { total: data.length } };
    },

    /** What came from files, and whether somebody has changed it by hand since. */
    async deployed(customerId: string) {
      const origins = await store.origins(customerId);
      const known = await look(customerId, origins);
      const data = origins.map((origin) => {
        const { kind, name, source, file, revision, appliedBy, appliedAt, contentHash } = origin;
        const now = known.get(keyOf(kind, name));
        const isSame = now && hashOf(kind, now.content) === contentHash;
        const state = isSame ? ('as_applied' as const) : now ? ('changed' as const) : ('gone' as const);
        return { kind, name, source, file, revision, applied_by: appliedBy, applied_at: appliedAt, state };
      });
      return { data, meta: { total: data.length } };
    },

    /** @throws Problem validation */
    async plan(caller: Caller, given: GivenManifests) {
      return shown(caller, await decide(caller, given), given);
    },

    /** @throws Problem validation, plan_outdated, and those of what is written */
    async apply(
      caller: Caller,
      given: GivenManifests & { state?: string | undefined; revision?: string | null | undefined },
    ) {
      const { customerId, actor } = caller;
      const decided = await decide(caller, given);
      const { planned, orphans, state } = decided;
      if (given.state !== undefined && given.state !== state) throw outdated();
      // Before anything is written, since what is written is not to be seen as what there was.
      const plan = await shown(caller, decided, given);
      const writes: { kind: ManifestKind; name: string; write: Write }[] = [];
      for (const { kind, name, before } of divided(orphans, given).pruned) {
        if (before) writes.push({ kind, name, write: kindOf(kind).remove(caller, name) });
      }
      for (const { action, kind, wanted, before } of planned) {
        if (action === 'unchanged') continue;
        writes.push({ kind, name: wanted.name, write: await wanted.prepare(caller, before?.content) });
      }
      const later: AfterCommit[] = [];
      await db.transaction(async () => {
        await store.lock(customerId);
        if ((await stateNow(customerId, given)) !== state) throw outdated();
        for (const { kind, name, write } of writes) {
          const rest = await write().catch((error: unknown) => {
            throw named(error, kind, name);
          });
          if (rest) later.push(rest);
        }
        const noted = { source: given.source, revision: given.revision ?? null, appliedBy: actor };
        await store.noteOrigins(customerId, originsOf(decided, given), noted);
        if (given.prune) await store.forgetOrigins(customerId, orphans);
      });
      for (const rest of later) {
        await rest().catch((err: unknown) =>
          log.warn({ err }, 'what follows a manifest could not be told at once; housekeeping will mend it'),
        );
      }
      return plan;
    },
  };
};

const differencesOf = ({ secrets: places }: Kind, before: ManifestContent, after: ManifestContent) =>
  places ? differences(masked(places, before, undefined), masked(places, after, before)) : differences(before, after);

const withoutBefore = ({ path, after }: FieldChange): FieldChange => ({ path, before: '***', after });

const outdated = (): Problem =>
  new Problem('plan_outdated', 'somebody has changed what the plan is about since it was made: plan again');
