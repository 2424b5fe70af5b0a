/** What `aos doctor` finds. */
export interface CheckResult {
  check: string;
  status: 'ok' | 'warning' | 'failed';
  detail: string;
  /** Says what to do about the finding. */
  mend?: string;
}

export const ok = (check: string, detail: string): CheckResult => ({ check, status: 'ok', detail });
export const warning = (check: string, detail: string, mend: string): CheckResult => ({
  check,
  status: 'warning',
  detail,
  mend,
});
export const failed = (check: string, detail: string, mend: string): CheckResult => ({
  check,
  status: 'failed',
  detail,
  mend,
});
