/** Gives each activity the workspace that it works for, and counts the worker's slot that it holds. */
import type { Info } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { forWorkspace, NO_WORKSPACE } from '../fairness/workspace-context.ts';
import type { ActivitySlots } from './activity-slots.ts';

/** Workflows are started with their workspace as fairness key, and Temporal passes it on to activities and children. */
const workspaceOf = ({ priority }: Info): string => priority?.fairnessKey ?? NO_WORKSPACE;

/** @param slots of the worker. Local activities have slots of their own, which short statements alone hold. */
export const activityForWorkspace =
  (slots: ActivitySlots): ActivityInterceptorsFactory =>
  ({ info }) => ({
    inbound: {
      execute(input, next) {
        const workspace = workspaceOf(info);
        const execute = () => forWorkspace(workspace, () => next(input));
        return info.isLocal ? execute() : slots.hold(workspace, execute);
      },
    },
  });
