/**
 * The tick of a scheduled job or of a heartbeat: accepts a run and starts it. It does not wait for the run, as a schedule
 * drops ticks while its action is going on.
 */
import { ParentClosePolicy, startChild, workflowInfo } from '@temporalio/workflow';
import { runWorkflowId } from '../../src/resources/runs/model.ts';
import type { AgentRunInput } from '../run/messages.ts';
import { agentRun } from '../run/workflow.ts';
import { records } from '../shared/activities.ts';
import type { ScheduledJobInput } from './messages.ts';

export async function scheduledJob({ source, ...scope }: ScheduledJobInput): Promise<void> {
  // The id is made first, so that what is repeated afterwards is repeated under it.
  const runId = await records.nameRun();
  const accepted = await records.acceptScheduledRun({ customerId: scope.customerId, source, runId });
  if (!accepted) return; // The row is switched off or gone since, or the run was refused, which the log says.
  const args: [AgentRunInput] = [{ ...scope, runId, agent: accepted.agent }];
  await startChild(agentRun, {
    workflowId: runWorkflowId(runId),
    args,
    parentClosePolicy: ParentClosePolicy.ABANDON,
    typedSearchAttributes: workflowInfo().typedSearchAttributes,
    staticSummary: accepted.agent,
  });
}
