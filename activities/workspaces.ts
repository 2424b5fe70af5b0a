/**
 * Makes a workspace and takes it down, a step each. A step finds the row as it is: where that has moved on to another
 * generation, the workflow that asks ends before anything else is made or taken away for it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Log } from '../src/platform/core/log.ts';
import { Problem } from '../src/platform/core/problem.ts';
import type { FileStore } from '../src/platform/files/files.ts';
import { SUPERSEDED, type WorkspaceRef } from '../src/resources/workspaces/model.ts';
import {
  ProvisionerError,
  type ProvisionedTenant,
  type Provisioner,
} from '../src/resources/workspaces/provisioners/provisioner.ts';
import type { WorkspaceRow, WorkspaceStore } from '../src/resources/workspaces/store/index.ts';
import { heartbeating } from './failures.ts';
import { outlastingStorage } from './storage-away.ts';

export interface WorkspaceDependencies {
  store: WorkspaceStore;
  provisioner: Provisioner;
  files: Pick<FileStore, 'deleteAll'>;
  /** So much time lies between two looks at a resource that is being made or removed. */
  pollMs: number;
  /** Switches jobs and heartbeats off and removes their schedules. */
  stopTriggers: (tenant: ProvisionedTenant) => Promise<void>;
  /** Takes back the key of the managed model router, if the workspace has one. */
  takeBackRouterKey: (tenant: ProvisionedTenant) => Promise<unknown>;
  /** Each lists a few of what has not ended. */
  listOpenProjects: (customerId: string, limit: number) => Promise<{ id: string }[]>;
  listOpenRuns: (customerId: string, limit: number) => Promise<{ id: string }[]>;
  abandonProject: (tenant: ProvisionedTenant, projectId: string) => Promise<unknown>;
  cancelRun: (tenant: ProvisionedTenant, runId: string) => Promise<unknown>;
  log: Log;
}

export type WorkspaceActivities = ReturnType<typeof createWorkspaceActivities>;

const BATCH = 20;
/** The files of a workspace lie in `<area>/<customer id>/...`. */
const FILE_AREAS = ['runs', 'attachments', 'avatars', 'workspaces', 'exports'];
const MAX_MESSAGE = 500;

interface Failure extends WorkspaceRef {
  code: string;
  message: string;
}
const errorOf = ({ code, message }: Failure) => ({
  code: code.slice(0, 100).toWellFormed(),
  message: message.slice(0, MAX_MESSAGE).toWellFormed(),
});

export const createWorkspaceActivities = (needs: WorkspaceDependencies) => {
  const { store, provisioner, files, pollMs, stopTriggers, abandonProject, cancelRun, log } = needs;

  /** @returns the workspace while this generation of it is at work */
  async function current({ customerId, generation }: WorkspaceRef, isAtWork: (row: WorkspaceRow) => boolean) {
    const row = await store.findByCustomer(customerId);
    if (row?.generation === generation && isAtWork(row)) return { ...row, workspaceId: row.identityWorkspaceId };
    throw ApplicationFailure.nonRetryable('the workspace has moved on', SUPERSEDED);
  }
  const provisioning = (ref: WorkspaceRef) => current(ref, ({ status }) => status === 'provisioning');
  const destroying = (ref: WorkspaceRef) => current(ref, ({ destroyingSince }) => destroyingSince !== null);

  /** Runs a step: it beats while it works, and fails with what the provisioner said. */
  const step = <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    heartbeating(async (signal) => {
      try {
        return await outlastingStorage(signal, () => work(signal));
      } catch (error) {
        // Where the worker stops, or the workflow was cancelled, the failure says that.
        Context.current().cancellationSignal.throwIfAborted();
        if (error instanceof ApplicationFailure) throw error;
        if (error instanceof ProvisionerError) {
          const { code: type, message, isFinal: nonRetryable } = error;
          throw ApplicationFailure.create({ type, message, nonRetryable });
        }
        if (error instanceof Problem) throw ApplicationFailure.create({ type: error.code, message: error.message });
        // The error's own words are for the log, because this failure is told to the tenant.
        log.error({ err: error }, 'a step of a workspace failed');
        throw ApplicationFailure.create({
          type: 'internal_error',
          message: 'an unexpected error, which the log names',
        });
      }
    });

  /** Ends what is open until nothing is left: what is ended one by one may bring forth a last one. */
  async function endAll(list: () => Promise<{ id: string }[]>, end: (id: string) => Promise<unknown>): Promise<void> {
    for (let open = await list(); open.length > 0; open = await list()) {
      for (const { id } of open) {
        await end(id).catch((error: unknown) => {
          // It has ended by itself meanwhile.
          const isOver = error instanceof Problem && ['run_not_in_flight', 'project_ended'].includes(error.code);
          if (!isOver) throw error;
        });
      }
    }
  }

  return {
    beginProvisioning: async (ref: WorkspaceRef): Promise<boolean> =>
      (await store.beginProvisioning(ref)) !== undefined,

    provisionResource: ({ resource, ...ref }: WorkspaceRef & { resource: string }): Promise<void> =>
      step(async (signal) => {
        const tenant = await provisioning(ref);
        let made = await provisioner.create(tenant, resource, signal);
        for (;;) {
          // This is recorded also while the resource is not ready: whatever happens now, it exists.
          await store.recordResource(ref, resource, made.facts);
          if (made.isReady) return;
          await sleep(pollMs, undefined, { signal });
          const found = await provisioner.find(await provisioning(ref), resource, signal);
          if (!found) throw new ProvisionerError('resource_vanished', `${resource}: it no longer exists`);
          made = found;
        }
      }),

    reachRuntime: (ref: WorkspaceRef): Promise<string> =>
      step(async (signal) => {
        const tenant = await provisioning(ref);
        return provisioner.reachRuntime(tenant, tenant.provisioned, signal);
      }),

    recordWorkspaceReady: ({ runtimeBaseUrl, ...ref }: WorkspaceRef & { runtimeBaseUrl: string }): Promise<void> =>
      store.recordReady(ref, runtimeBaseUrl),

    recordProvisioningFailed: (failure: Failure): Promise<void> =>
      store.recordProvisioningFailed(failure, errorOf(failure)),

    /**
     * @returns what is to be removed, in that order: whatever may have been made, and whatever is known to have been
     */
    async beginDestroying({ resources, ...ref }: WorkspaceRef & { resources: string[] }): Promise<string[]> {
      const isBegun = await store.beginDestroying(ref);
      if (!isBegun) throw ApplicationFailure.nonRetryable('the workspace has moved on', 'workspace_in_transition');
      const { provisioned } = await destroying(ref);
      const known = Object.keys(provisioned).filter((name) => !resources.includes(name));
      return [...resources, ...known].toReversed();
    },

    stopTriggers: (ref: WorkspaceRef): Promise<void> =>
      step(async () => {
        await stopTriggers(await destroying(ref));
      }),

    stopWork: (ref: WorkspaceRef): Promise<void> =>
      step(async () => {
        const tenant = await destroying(ref);
        const { customerId } = tenant;
        await endAll(
          () => needs.listOpenProjects(customerId, BATCH),
          (id) => abandonProject(tenant, id),
        );
        await endAll(
          () => needs.listOpenRuns(customerId, BATCH),
          (id) => cancelRun(tenant, id),
        );
        await needs.takeBackRouterKey(tenant);
      }),

    async revokeWorkspaceKeys(ref: WorkspaceRef): Promise<void> {
      const { customerId } = await destroying(ref);
      await store.revokeKeys(customerId);
    },

    removeResource: ({ resource, ...ref }: WorkspaceRef & { resource: string }): Promise<void> =>
      step(async (signal) => {
        const tenant = await destroying(ref);
        await provisioner.remove(tenant, resource, signal);
        while (await provisioner.find(tenant, resource, signal)) {
          await sleep(pollMs, undefined, { signal });
        }
        await store.recordResource(ref, resource, undefined);
      }),

    removeFiles: (ref: WorkspaceRef): Promise<void> =>
      step(async () => {
        const { customerId } = await destroying(ref);
        await store.forgetFiles(customerId);
        for (const area of FILE_AREAS) await files.deleteAll(`${area}/${customerId}`);
      }),

    archiveWorkspace: (ref: WorkspaceRef): Promise<void> => store.archive(ref),

    recordDestroyFailed: (failure: Failure): Promise<void> => store.recordDestroyFailed(failure, errorOf(failure)),
  };
};
