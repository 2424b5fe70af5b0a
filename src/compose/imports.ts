/** Makes what brings an archive into a workspace. */
import { isOneOf } from '../platform/core/one-of.ts';
import { Problem } from '../platform/core/problem.ts';
import { isRecord } from '../platform/core/record.ts';
import { standingIn } from '../platform/core/rights.ts';
import { found } from '../platform/db/client.ts';
import { createImportService } from '../resources/imports/service.ts';
import { createImportStore } from '../resources/imports/store.ts';
import { MANIFEST_KINDS, type Content, type ManifestKind } from '../resources/manifests/model.ts';
import { NewEntry } from '../resources/memory/contract.ts';
import { SKILL } from '../resources/memory/model.ts';
import type { Runtime } from '../runtime.ts';
import type { Access } from './access.ts';
import type { Knowledge } from './knowledge.ts';
import type { Manifests } from './manifests.ts';
import type { Platform } from './platform.ts';

type Line = Readonly<Record<string, unknown>>;

/** These begin by themselves, or are told of what happens: somebody switches them on when the other deployment is off. */
const BEGINS: readonly ManifestKind[] = ['job', 'heartbeat', 'destination'];

export function composeImports(
  { config, db, log, temporal }: Runtime,
  { files }: Platform,
  { otp, stores: { workspaces } }: Access,
  { memory }: Knowledge,
  { manifests }: Manifests,
) {
  const store = createImportStore(db);

  /** What files say is looked at as if an owner applied it. */
  async function bringManifest(customerId: string, { kind, content }: Line): Promise<boolean> {
    if (!isOneOf(MANIFEST_KINDS, kind) || !isRecord(content)) throw new Problem('bad_request', 'it is no manifest');
    if (kind === 'webhook') {
      throw new Problem(
        'bad_request',
        'a webhook gets another signing secret: register it where its receiver is told so',
      );
    }
    if (await manifests.has(customerId, kind, content)) return false;
    const { identityWorkspaceId: workspaceId } = found(await workspaces.findByCustomer(customerId));
    const standing = standingIn(workspaceId, 'owner', { isStamped: true });
    const given: Content = BEGINS.includes(kind) ? { ...content, enabled: false } : content;
    const caller = { workspaceId, customerId, actor: 'import', standing };
    await manifests.apply(caller, { source: 'import', prune: false, manifests: [{ kind, content: { ...given } }] });
    return true;
  }

  /** @returns undefined for what is brought otherwise */
  async function bringMemory(customerId: string, line: Line): Promise<boolean | undefined> {
    if (line.type === SKILL) return undefined;
    if (line.status !== 'active') throw new Problem('bad_request', 'only what is recalled is brought');
    const { content, type, slug, name, description, source_attribution, agent, scope, always_load, meta } = line;
    const asked = { content, type, slug, name, description, source_attribution, agent, scope, always_load, meta };
    const set = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== null && value !== undefined));
    const { data, error } = NewEntry.safeParse(set);
    if (!data) throw new Problem('bad_request', error.issues.map(({ message }) => message).join('; '));
    if (await store.hasMemory(customerId, { type: data.type, slug: data.slug ?? null, content: data.content }))
      return false;
    await memory.create(customerId, data);
    return true;
  }

  return {
    imports: createImportService({ temporal, store, files, otp, settings: config, log }),
    /** Activities use these. */
    bringing: { store, db, bringManifest, bringMemory },
  };
}
