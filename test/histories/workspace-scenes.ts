/** Histories of workspaces: provisioned and destroyed by an external provisioner, which fails as a scene needs it. */
import { present } from '../../src/platform/core/present.ts';
import { standingIn } from '../../src/platform/core/rights.ts';
import { destroyWorkflowId, provisionWorkflowId } from '../../src/resources/workspaces/model.ts';
import { eventually, type TestService } from '../support/service/service.ts';
import { startExternalProvisioner, type ExternalProvisioner } from '../resources/workspaces/provisioner.ts';

interface Scene {
  service: TestService;
  keep(name: string, workflowId: string): Promise<void>;
}

const OPERATOR = {
  workspaceId: 'acc_internal',
  customerId: 'internal',
  actor: 'owner@localhost',
  standing: standingIn('acc_internal', 'owner'),
};

/** With the settings of a service that the scenes are played on. */
export async function stageWorkspaces() {
  const external = await startExternalProvisioner();
  const env = {
    PROVISIONER_URL: external.url,
    PROVISIONER_POLL: '5ms',
    PROVISIONER_RETRY_INITIAL: '10ms',
    PROVISIONER_ATTEMPTS: '2',
  };
  return { env, play: (scene: Scene) => play(scene, external), close: () => external.close() };
}

async function play({ service, keep }: Scene, external: ExternalProvisioner): Promise<void> {
  const { workspaces, stores } = service.services;
  const rowOf = async (id: string) => present(await stores.workspaces.find(id));
  const create = (id: string) => workspaces.create(OPERATOR, { identity_workspace_id: id, plan: 'free' });
  const reaching = (id: string, status: string) =>
    eventually(async () => {
      const row = await rowOf(id);
      if (row.status !== status) throw new Error(`${id} is ${row.status}`);
      return row;
    });

  await create('acc_made');
  const made = await reaching('acc_made', 'ready');
  await keep('workspace-provisioned', provisionWorkflowId(made));

  external.interfere(({ method, path }) =>
    path.endsWith('/database') && method === 'DELETE' ? { status: 500 } : undefined,
  );
  await workspaces.destroy(OPERATOR, 'acc_made').catch(() => {});
  await keep('workspace-destroy-failed', destroyWorkflowId(await rowOf('acc_made')));
  external.interfere(() => undefined);
  await workspaces.destroy(OPERATOR, 'acc_made');
  await keep('workspace-destroyed', destroyWorkflowId(await rowOf('acc_made')));

  external.interfere(({ path }) => (path.endsWith('/cache') ? { status: 422, body: { code: 'quota' } } : undefined));
  await create('acc_refused');
  await keep('workspace-provisioning-failed', provisionWorkflowId(await reaching('acc_refused', 'failed')));

  external.interfere(({ path }) =>
    path.endsWith('/cache') ? { status: 200, body: { status: 'creating' } } : undefined,
  );
  await create('acc_taken-over');
  const held = await eventually(async () => {
    const row = await rowOf('acc_taken-over');
    if (!('cache' in row.provisioned)) throw new Error('it has not come to the cache yet');
    return row;
  });
  await workspaces.setState('acc_taken-over', { status: 'failed' });
  await keep('workspace-provisioning-cancelled', provisionWorkflowId(held));
  external.interfere(() => undefined);
}
