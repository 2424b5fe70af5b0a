/** The start of a system job, as its schedule makes it. */

/** The server knows the workflow by this type. */
export const SYSTEM_JOB = 'systemJob';

export interface SystemJobInput {
  jobId: string;
  /** The job runs for this workspace, which has a time of its own for it; without one it runs for all the others. */
  customerId?: string;
}
