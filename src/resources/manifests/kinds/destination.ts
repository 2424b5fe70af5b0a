/** Manifests of output destinations. Their secrets are named by variables, and compared without being shown. */
import { newUuid } from '../../../platform/core/ids.ts';
import { isOneOf } from '../../../platform/core/one-of.ts';
import { present } from '../../../platform/core/present.ts';
import { CLOSED } from '../../../platform/db/circuit.ts';
import { CONFIGS, NewDestination } from '../../output-destinations/contract.ts';
import { DESTINATION_KINDS, SECRET_FIELDS } from '../../output-destinations/model.ts';
import type { DestinationService } from '../../output-destinations/service.ts';
import type { DestinationStore } from '../../output-destinations/store/index.ts';
import type { WorkspaceStore } from '../../workspaces/store/index.ts';
import { defineKind, findingIn, listed, shaped, type Kind } from '../kind.ts';

interface Dependencies {
  store: Pick<DestinationStore, 'list' | 'count' | 'insert' | 'change' | 'delete'>;
  destinations: Pick<DestinationService, 'open' | 'seal' | 'originOf' | 'addressFault' | 'askRecipients'>;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
}
type Row = Awaited<ReturnType<Dependencies['store']['list']>>[number];

export function destinationKind({ store, destinations, workspaces }: Dependencies): Kind {
  const manifestOf = (row: Row): NewDestination =>
    NewDestination.parse({
      name: row.name,
      ...destinations.open(row),
      workflow_slugs: row.workflowSlugs,
      enabled: row.enabled,
      artifacts: row.artifacts,
      waits: row.waits,
      spending: row.spending,
    });
  const { byName, named } = findingIn({ list: store.list, nameOf: ({ name }) => name, manifestOf });
  return defineKind<NewDestination>({
    kind: 'destination',
    nameField: 'name',
    secrets: {
      isPlace: ([top, field, more], { kind }) =>
        top === 'config' &&
        field !== undefined &&
        more === undefined &&
        isOneOf(DESTINATION_KINDS, kind) &&
        SECRET_FIELDS[kind].includes(field),
      isSecret: () => true,
      receiverOf: ({ kind, config }) => destinations.originOf(kind, config),
      schemas: new Set([
        CONFIGS.webhook.shape.secret.unwrap(),
        CONFIGS.slack.shape.webhook_url,
        CONFIGS.s3.shape.access_key_id,
        CONFIGS.s3.shape.secret_access_key,
      ]),
    },
    shape: NewDestination,
    read: async (content) => shaped(NewDestination, content),
    defaults: { workflow_slugs: null, enabled: true, artifacts: true, waits: false, spending: false },
    ...byName,
    references: ({ workflow_slugs: slugs }) => listed('workflow', slugs ?? [], ['workflow_slugs']),
    async check(customerId, manifest) {
      const fault = destinations.addressFault(manifest);
      const [before] = await named(customerId, manifest.name);
      return [
        ...(fault ? [{ path: ['config'], message: fault }] : []),
        ...(before && before.kind !== manifest.kind
          ? [{ path: ['kind'], message: `it is of kind ${before.kind}, which stays: give the new one another name` }]
          : []),
      ];
    },
    prepare:
      async ({ customerId }, manifest) =>
      async () => {
        const { name, kind, config, workflow_slugs: workflowSlugs, enabled, artifacts, waits, spending } = manifest;
        const [before] = await named(customerId, name);
        const id = before?.id ?? newUuid();
        const values = {
          name,
          workflowSlugs,
          enabled,
          artifacts,
          waits,
          spending,
          ...destinations.seal({ id, customerId, kind, config }),
        };
        const row = before
          ? // Somebody decided the state, so the circuit begins anew.
            await store.change(customerId, id, () => ({ ...values, ...CLOSED }))
          : await workspaces.underCap(
              customerId,
              'output_destinations',
              () => store.count(customerId),
              () => store.insert({ ...values, id, customerId, kind }),
            );
        return () => destinations.askRecipients(row);
      },
    remove:
      ({ customerId }, name) =>
      async () => {
        const [row] = await named(customerId, name);
        const { id } = present(row, `the destination ${name}`);
        // Attempts that are under way find their delivery gone, and send nothing.
        await store.delete(customerId, id);
      },
  });
}
