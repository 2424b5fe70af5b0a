/** What a row asks for, with nothing in it that the test does not name: at night, of a workflow that nobody runs. */
import type { Trigger } from '../../../src/platform/temporal/triggers.ts';

export const triggerOf = (scheduleId: string, revision = 1): Trigger => ({
  scheduleId,
  revision,
  enabled: true,
  when: { cron: '0 3 * * *' },
  workflowType: 'scheduledJob',
  taskQueue: 'nobody',
  args: [{}],
  workspaceId: 'acc_none',
  agent: '',
  note: '',
});
