/** Words and rules of scheduled jobs. Pure. */
export const JOB_KINDS = ['system', 'agent', 'custom'] as const;

/** Of the description in a list. */
export const MAX_DESCRIPTION = 200;

export const customJobId = (n: number): string => `custom-${n}`;
/** @returns the number in `custom-<n>`, undefined for anything else */
export const numberIn = (jobId: string): number | undefined => {
  const [, digits] = /^custom-(\d{1,9})$/.exec(jobId) ?? [];
  return digits === undefined ? undefined : Number(digits);
};
