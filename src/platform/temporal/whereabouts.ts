/** Whether Temporal still has what the record says is under way. */
import type { WorkflowExecutionStatusName } from '@temporalio/client';
import type { Temporal } from './client.ts';
import { isWorkflowGone } from './problems.ts';

/**
 * `running`: it goes on by itself. `absent`: Temporal knows nothing of it, or of an end that the record does not have,
 * as after one of the two was restored from a backup. Else how it was ended without the record hearing of it.
 */
export type Whereabouts = 'running' | 'absent' | 'cancelled' | 'terminated' | 'failed' | 'timed out';

const WHEREABOUTS: Partial<Record<WorkflowExecutionStatusName, Whereabouts>> = {
  COMPLETED: 'absent',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
  FAILED: 'failed',
  TIMED_OUT: 'timed out',
};

/** Of the latest execution under that id. */
export async function whereaboutsOf({ client }: Temporal, workflowId: string): Promise<Whereabouts> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return WHEREABOUTS[status.name] ?? 'running';
  } catch (error) {
    if (isWorkflowGone(error)) return 'absent';
    throw error;
  }
}
