/** Decides what the work of an attempt came to, from what its run or action left behind. */
import { JsonDepthError, TOO_DEEP } from '../../../platform/core/json.ts';
import { fieldsOf } from '../../../platform/core/record.ts';
import { findValueProblem } from '../../../platform/core/schema-checks.ts';
import { isJudge, type StepRole } from '../../templates/model.ts';
import type { AttemptFault } from '../model.ts';
import { ATTEMPT_KINDS, type Finding } from './attempt-kinds.ts';
import type { OpenAttempt } from './attempt.ts';

export async function findingOf(attempt: OpenAttempt, fault: AttemptFault | undefined): Promise<Finding> {
  if (fault?.kind === 'timeout') return { kind: 'error', error: fault.message };
  if (fault?.kind === 'cancelled') return { kind: 'stopped', error: fault.message };
  const finding = ATTEMPT_KINDS[attempt.kind].findingOf(attempt, fault);
  return finding.kind === 'raw' ? validated(attempt, finding.output) : finding;
}

async function validated(attempt: OpenAttempt, raw: unknown): Promise<Finding> {
  const schemas = [attempt.outputSchema, attempt.artifactSchema].filter((schema) => schema !== null);
  if (schemas.length === 0) return { kind: 'output', output: raw, validated: null };
  let value: unknown;
  try {
    value = ATTEMPT_KINDS[attempt.kind].valueOf(raw);
  } catch (error) {
    const what = error instanceof JsonDepthError ? TOO_DEEP : 'not JSON, which its schema asks for';
    return { kind: 'invalid', output: raw, error: `the output is ${what}` };
  }
  for (const schema of schemas) {
    const fault = await findValueProblem(schema, value, 'output');
    if (fault) return { kind: 'invalid', output: value, error: fault };
  }
  return { kind: 'output', output: value, validated: true };
}

/** These words approve; the offline model chooses them too. */
const APPROVING = /^(approv|accept|pass|ok$|yes$|lgtm)/i;
const VERDICT_WORDS = ['decision', 'verdict'];
const VERDICT_FLAGS = ['approved', 'accepted', 'passed', 'ok'];

/** @returns what a reviewer or tester has against the work, whatever its own schema calls the verdict */
export function objection(role: StepRole, output: unknown): string | undefined {
  if (!isJudge(role) || typeof output !== 'object' || output === null) return undefined;
  const said = fieldsOf(output);
  const word = VERDICT_WORDS.map((name) => said[name]).find((value) => typeof value === 'string');
  const isFine = word === undefined ? !VERDICT_FLAGS.some((name) => said[name] === false) : APPROVING.test(word);
  if (isFine) return undefined;
  const { feedback, findings } = said;
  if (typeof feedback === 'string' && feedback.trim() !== '') return feedback;
  if (!Array.isArray(findings) || findings.length === 0) return JSON.stringify(output);
  return findings.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n');
}
