/** What a judge's verdict is, whatever its schema calls it. */
import { expect, test } from '@jest/globals';
import { objection } from '../../../../src/resources/projects/engine/finding.ts';

// Guards: a judge's verdict is understood whatever its own schema calls it: an approval is no rejection, and its
// reasons are passed on.
test.each([
  [{ decision: 'approved', feedback: 'Good.' }, undefined],
  [{ decision: 'Approve' }, undefined],
  [{ decision: 'pass' }, undefined],
  [{ verdict: 'accepted' }, undefined],
  [{ passed: true, findings: ['a trifle'] }, undefined],
  [{ approved: true }, undefined],
  [{ score: 3 }, undefined],
  ['Decision: reject', undefined],
  [null, undefined],
  [{ decision: 'rejected', feedback: 'Too dry' }, 'Too dry'],
  [{ decision: 'needs work', feedback: ' ' }, '{"decision":"needs work","feedback":" "}'],
  [{ decision: 'rejected', approved: true, feedback: 'No' }, 'No'],
  [{ verdict: 'fail', findings: ['one', { line: 2 }] }, 'one\n{"line":2}'],
  [{ passed: false, issues: ['broken'] }, '{"passed":false,"issues":["broken"]}'],
  [{ accepted: false, passed: true }, '{"accepted":false,"passed":true}'],
])('%j', (output, expected) => {
  expect(objection('tester', output)).toBe(expected);
  expect(objection('reviewer', output)).toBe(expected);
  expect(objection('producer', output)).toBeUndefined();
});
