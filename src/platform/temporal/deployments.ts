/**
 * Versions of the workers and how new work moves from one to the next: Temporal's Worker Deployments. A worker with
 * `WORKER_DEPLOYMENT` and `WORKER_BUILD_ID` takes only what its version is due; one without takes what is unversioned.
 *
 * A run is pinned: it ends on the version that began it (`workflows/run/workflow.ts` says so). Everything else goes on
 * with the version that is current: projects wait for weeks, and what replays them is kept by `patched()` and by the
 * recorded histories.
 */
import type { WorkerOptions } from '@temporalio/worker';
import { ConfigError, type Config } from '../core/config.ts';
import type { Temporal } from './client.ts';

export interface DeploymentVersion {
  deployment: string;
  buildId: string;
}

/** @throws ConfigError when one is given without the other */
export function ownVersion({
  WORKER_DEPLOYMENT: deployment,
  WORKER_BUILD_ID: buildId,
}: Pick<Config, 'WORKER_DEPLOYMENT' | 'WORKER_BUILD_ID'>): DeploymentVersion | undefined {
  if (deployment && buildId) return { deployment, buildId };
  if (!deployment && !buildId) return undefined;
  throw new ConfigError(
    `WORKER_DEPLOYMENT and WORKER_BUILD_ID go together; ${deployment ? 'the second' : 'the first'} is not set`,
  );
}

/** A worker tells the server this of itself. */
export function versionOf(config: Pick<Config, 'WORKER_DEPLOYMENT' | 'WORKER_BUILD_ID'>): Partial<WorkerOptions> {
  const version = ownVersion(config);
  if (!version) return {};
  return {
    workerDeploymentOptions: {
      version: { deploymentName: version.deployment, buildId: version.buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
  };
}

export const VERSION_STATES = ['unknown', 'inactive', 'current', 'ramping', 'draining', 'drained', 'created'] as const;

/** A version as an operator sees it. `draining`: nothing new begins on it, and something still runs on it. */
export interface Version {
  build_id: string;
  /** The states stand in the order of Temporal's own numbers for them. */
  state: (typeof VERSION_STATES)[number];
  /** While a version ramps: the share of new work that goes to it. */
  percent?: number;
}

export interface WorkerDeployment {
  deployment: string;
  /** Null where unversioned workers take new work. */
  current: string | null;
  versions: Version[];
}

type Connected = Pick<Temporal, 'connection' | 'namespace'>;

/** @returns the deployment with its newest version first */
export async function describeDeployment(
  { connection, namespace }: Connected,
  deploymentName: string,
): Promise<WorkerDeployment> {
  const answer = await connection.workflowService.describeWorkerDeployment({ namespace, deploymentName });
  const { workerDeploymentInfo } = answer;
  const { routingConfig, versionSummaries } = workerDeploymentInfo ?? {};
  const ramping = routingConfig?.rampingDeploymentVersion?.buildId;
  const percent = routingConfig?.rampingVersionPercentage ?? 0;
  const versions = (versionSummaries ?? []).map(({ deploymentVersion, status }): Version => {
    const buildId = deploymentVersion?.buildId ?? '';
    return {
      build_id: buildId,
      state: VERSION_STATES[status ?? 0] ?? 'unknown',
      ...(buildId === ramping && { percent }),
    };
  });
  const current = routingConfig?.currentDeploymentVersion?.buildId ?? null;
  return { deployment: deploymentName, current, versions };
}

export async function listDeployments({ connection, namespace }: Connected): Promise<string[]> {
  const names: string[] = [];
  for (let nextPageToken: Uint8Array | undefined; ;) {
    const page = await connection.workflowService.listWorkerDeployments({
      namespace,
      ...(nextPageToken && { nextPageToken }),
    });
    names.push(...(page.workerDeployments ?? []).map(({ name }) => name ?? ''));
    if (!page.nextPageToken?.length) return names;
    nextPageToken = page.nextPageToken;
  }
}

/**
 * Sends all new work, and all work that moves along, to this version from now on. The server refuses a version that no
 * worker serves.
 */
export async function makeCurrent({ connection, namespace }: Connected, { deployment, buildId }: DeploymentVersion) {
  await connection.workflowService.setWorkerDeploymentCurrentVersion({
    namespace,
    deploymentName: deployment,
    buildId,
    identity: IDENTITY,
  });
}

/** Sends a share of new work to this version; 0 takes the ramp away. */
export async function ramp(
  { connection, namespace }: Connected,
  { deployment, buildId }: DeploymentVersion,
  percentage: number,
) {
  await connection.workflowService.setWorkerDeploymentRampingVersion({
    namespace,
    deploymentName: deployment,
    identity: IDENTITY,
    ...(percentage === 0 ? { buildId: '' } : { buildId, percentage }),
  });
}

/** Temporal shows this name as who changed it. */
const IDENTITY = 'aos deployments';
