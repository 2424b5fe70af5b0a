/** Manifests of heartbeats. They are known by their names, which in files are not given twice. */
import type { z } from 'zod';
import { present } from '../../../platform/core/present.ts';
import type { FollowRow } from '../../../platform/temporal/triggers.ts';
import { NewHeartbeat } from '../../heartbeats/contract.ts';
import type { HeartbeatService } from '../../heartbeats/service.ts';
import type { HeartbeatRow, HeartbeatStore } from '../../heartbeats/store.ts';
import type { WorkspaceStore } from '../../workspaces/store/index.ts';
import { defineKind, findingIn, shaped, type Kind } from '../kind.ts';

const HeartbeatManifest = NewHeartbeat.strict().meta({ id: undefined, title: 'A heartbeat' });
type HeartbeatManifest = z.output<typeof HeartbeatManifest>;

interface Dependencies {
  store: Pick<HeartbeatStore, 'list' | 'counts' | 'insert' | 'change' | 'delete'>;
  heartbeats: Pick<HeartbeatService, 'triggerOf'>;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
  follow: FollowRow;
}

const manifestOf = (row: HeartbeatRow): HeartbeatManifest => ({
  name: row.name,
  agent_slug: row.agentSlug,
  prompt: row.prompt,
  interval_s: row.intervalS,
  enabled: row.enabled,
});

export function heartbeatKind({ store, heartbeats, workspaces, follow }: Dependencies): Kind {
  const { byName, named } = findingIn({ list: store.list, nameOf: ({ name }) => name, manifestOf });
  return defineKind<HeartbeatManifest>({
    kind: 'heartbeat',
    nameField: 'name',
    shape: HeartbeatManifest,
    read: async (content) => shaped(HeartbeatManifest, content),
    defaults: { enabled: true },
    ...byName,
    references: ({ agent_slug: name }) => [{ kind: 'agent', name, path: ['agent_slug'] }],
    async check(customerId, { name }) {
      const count = (await named(customerId, name)).length;
      return count > 1 ? [{ path: ['name'], message: `${count} heartbeats have this name: rename all but one` }] : [];
    },
    prepare:
      async ({ customerId, workspaceId }, manifest) =>
      async () => {
        const { agent_slug: agentSlug, interval_s: intervalS, ...rest } = manifest;
        const values = { ...rest, agentSlug, intervalS };
        const [before] = await named(customerId, values.name);
        const row = before
          ? (await store.change(customerId, before.id, values)).after
          : await workspaces.underCap(
              customerId,
              'heartbeats',
              async () => (await store.counts(customerId)).total,
              () => store.insert(customerId, values),
            );
        return () => follow.change(heartbeats.triggerOf(row, workspaceId));
      },
    remove:
      ({ customerId, workspaceId }, name) =>
      async () => {
        const [row] = await named(customerId, name);
        const { id } = present(row, `the heartbeat ${name}`);
        await store.delete(customerId, id);
        return () => follow.remove(heartbeats.triggerOf(present(row), workspaceId).scheduleId);
      },
  });
}
