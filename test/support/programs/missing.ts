/** What a machine may lack: tests that need it are skipped there, and say so. Where everything must be proved they fail. */

/**
 * @param what is not proved without it
 * @param reason why it is not there; undefined where it is
 * @returns whether tests are to be skipped
 * @throws Error where `CI=true`
 */
export function isMissing(what: string, reason: string | undefined): boolean {
  if (reason === undefined) return false;
  if (process.env.CI === 'true') throw new Error(`nothing would be proved about ${what}: ${reason}`);
  process.stderr.write(`\n*** SKIPPED: nothing is proved here about ${what}: ${reason}\n\n`);
  return true;
}

/** Why something could not be made, in a line; undefined where it could. */
export const reasonOf = (attempt: Promise<unknown>): Promise<string | undefined> =>
  attempt.then(
    () => undefined,
    (error: Error) => error.message.split('\n')[0],
  );
