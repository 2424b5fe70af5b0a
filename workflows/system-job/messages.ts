/** What the schedule of a system job starts. */

/** The workflow's type, as the server knows it. */
export const SYSTEM_JOB = 'systemJob';

export interface SystemJobInput {
  jobId: string;
  /** A workspace that changed when it runs; without one, all the others. */
  customerId?: string;
}
