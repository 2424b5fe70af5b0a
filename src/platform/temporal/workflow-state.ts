/** Asks whether Temporal still has what the record says is under way. */
import type { WorkflowExecutionStatusName } from '@temporalio/client';
import type { Temporal } from './client.ts';
import { isWorkflowGone } from './problems.ts';

/**
 * `running`: it goes on by itself. `absent`: Temporal knows nothing of it, or of an end that the record does not have,
 * as after one of the two was restored from a backup. Else how it was ended without the record hearing of it.
 */
export type WorkflowState = 'running' | 'absent' | 'cancelled' | 'terminated' | 'failed' | 'timed out';

const STATES: Partial<Record<WorkflowExecutionStatusName, WorkflowState>> = {
  COMPLETED: 'absent',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
  FAILED: 'failed',
  TIMED_OUT: 'timed out',
};

/** @returns the state of the latest execution under that id */
export async function workflowState({ client }: Temporal, workflowId: string): Promise<WorkflowState> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return STATES[status.name] ?? 'running';
  } catch (error) {
    if (isWorkflowGone(error)) return 'absent';
    throw error;
  }
}
