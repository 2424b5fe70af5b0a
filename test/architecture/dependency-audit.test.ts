import { expect, test } from '@jest/globals';
import { judgeAudit } from '../support/architecture/audit-dependencies.ts';

const found = (severity: string) =>
  JSON.stringify({
    vulnerabilities: { kite: { severity, range: '<1.2.3', via: ['string', { title: 'It leaks', url: 'https://x' }] } },
  });

// Guards: a vulnerability of enough weight fails the check and is named; lighter ones do not fail it.
test.each([
  ['critical', 1],
  ['high', 1],
  ['moderate', 0],
  ['low', 0],
])('%s ends with %i', (severity, exitCode) => {
  const result = judgeAudit(found(severity));
  expect(result.exitCode).toBe(exitCode);
  if (exitCode) expect(result.text).toBe(`${severity}: kite <1.2.3: by string; It leaks (https://x)`);
});

// Guards: an audit that could not be made is never taken for one that found nothing.
test.each(['', 'no JSON', '{"message":"405 Method Not Allowed","error":{}}'])('%j is said to be none', (output) => {
  expect(judgeAudit(output)).toEqual({ exitCode: 0, text: expect.stringContaining('*** SKIPPED') });
});
