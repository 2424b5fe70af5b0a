/** Gives each activity the workspace that it works for, and counts the worker's slot that it holds. */
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { forWorkspace, NO_WORKSPACE } from '../fairness/workspace-context.ts';
import type { ActivitySlots } from './activity-slots.ts';

/** Workflows are started with their workspace as fairness key, and tell it to their activities in this header. */
export const WORKSPACE_HEADER = 'workspace';

const workspaceIn = ({ [WORKSPACE_HEADER]: payload }: Record<string, Payload>): string =>
  payload ? defaultPayloadConverter.fromPayload<string>(payload) : NO_WORKSPACE;

/** @param slotsOf tells which of the worker's slots an activity takes. Local ones have others, for short statements. */
export const activityForWorkspace =
  (slotsOf: (activityType: string) => Pick<ActivitySlots, 'hold'>): ActivityInterceptorsFactory =>
  ({ info }) => ({
    inbound: {
      execute(input, next) {
        const workspace = workspaceIn(input.headers);
        const execute = () => forWorkspace(workspace, () => next(input));
        return info.isLocal ? execute() : slotsOf(info.activityType).hold(workspace, execute);
      },
    },
  });
