/**
 * Makes a workspace resource by resource, and takes it down in reverse. Every step is an activity that can be repeated,
 * and records itself what it made or took away. So a step that fails for good leaves a record of what is there, from
 * which a retry or the next destruction goes on.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  proxyActivities,
  setCurrentDetails,
} from '@temporalio/workflow';
import type { WorkspaceActivities } from '../../activities/workspaces.ts';
import { SUPERSEDED, type WorkspaceRef } from '../../src/resources/workspaces/model.ts';
import { records } from '../shared/activities.ts';
import type { WorkspaceInput } from './messages.ts';

/**
 * Steps are slow and done by somebody else. The policy is not in shared/activities.ts because it is a part of the
 * input.
 */
const stepsOf = ({ retry, timeoutMs }: WorkspaceInput) =>
  proxyActivities<WorkspaceActivities>({
    startToCloseTimeout: timeoutMs,
    heartbeatTimeout: '20s',
    retry: { initialInterval: retry.initialMs, maximumInterval: '1m', maximumAttempts: retry.attempts },
  });

export async function provisionWorkspace(input: WorkspaceInput): Promise<void> {
  const { customerId, generation, resources } = input;
  const ref: WorkspaceRef = { customerId, generation };
  const { provisionResource, reachRuntime } = stepsOf(input);
  // Somebody else took the workspace over before this began.
  if (!(await records.beginProvisioning(ref))) return;
  try {
    for (const [done, resource] of resources.entries()) {
      setCurrentDetails(board(resources, done, 'Makes'));
      await provisionResource.executeWithOptions({ summary: resource }, [{ ...ref, resource }]);
    }
    setCurrentDetails(board(resources, resources.length, 'Waits for the runtime after'));
    const runtimeBaseUrl = await reachRuntime.executeWithOptions({ summary: 'runtime' }, [ref]);
    await records.recordWorkspaceReady({ ...ref, runtimeBaseUrl });
    setCurrentDetails(board(resources, resources.length, 'Ended: **ready**, with'));
  } catch (error) {
    const cause = causeOf(error);
    setCurrentDetails(`Ended: **failed** (${cause.code}).`);
    await CancellationScope.nonCancellable(() => records.recordProvisioningFailed({ ...ref, ...cause }));
    throw error;
  }
}

export async function destroyWorkspace(input: WorkspaceInput): Promise<void> {
  const { customerId, generation } = input;
  const ref: WorkspaceRef = { customerId, generation };
  const steps = stepsOf(input);
  const resources = await records.beginDestroying({ ...ref, resources: input.resources });
  try {
    setCurrentDetails('Stops what the tenant has under way.');
    await steps.stopTriggers.executeWithOptions({ summary: 'schedules' }, [ref]);
    await steps.stopWork.executeWithOptions({ summary: 'projects and runs' }, [ref]);
    await records.revokeWorkspaceKeys(ref);
    for (const [done, resource] of resources.entries()) {
      setCurrentDetails(board(resources, done, 'Removes'));
      await steps.removeResource.executeWithOptions({ summary: resource }, [{ ...ref, resource }]);
    }
    setCurrentDetails('Removes the files.');
    await steps.removeFiles.executeWithOptions({ summary: 'files' }, [ref]);
    await records.archiveWorkspace(ref);
    setCurrentDetails('Ended: **archived**.');
  } catch (error) {
    const cause = causeOf(error);
    setCurrentDetails(`Ended: **failed** (${cause.code}).`);
    await CancellationScope.nonCancellable(() => records.recordDestroyFailed({ ...ref, ...cause }));
    throw error;
  }
}

const board = (resources: readonly string[], done: number, doing: string): string =>
  `${doing}:\n\n${resources.map((name, i) => `- ${i < done ? '[x]' : '[ ]'} ${name}`).join('\n')}`;

function causeOf(error: unknown): { code: string; message: string } {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ApplicationFailure) return { code: cause.type ?? 'internal_error', message: cause.message };
  }
  if (error instanceof ActivityFailure) return { code: 'timed_out', message: `${error.activityType} took too long` };
  return { code: SUPERSEDED, message: 'it was cancelled' };
}
