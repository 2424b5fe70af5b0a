/** What the service refuses is told to people in sentences. Its codes are for programs. */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PROBLEMS, RUN_FAILURES, type ProblemCode, type StructuredCode } from '../../src/platform/core/problem.ts';
import { BODIES } from '../../src/platform/http/problem-bodies.ts';
import { withoutCode } from '../../src/cli/problems.ts';
import { runHere } from '../support/cli/here.ts';
import { portOf } from '../support/processes/listening.ts';

/** Of each problem that says more than a text, what it says. */
const DETAILS: Readonly<Record<StructuredCode, object>> = {
  validation: [{ loc: ['body', 'prompt'], msg: 'is required', type: 'invalid_type' }],
  otp_required: { otp_required: true, challenge_id: '1', scope: 'a deletion', expires_at: 1, delivery: 'log:1' },
  plan_limit_exceeded: { code: 'plan_limit_exceeded', resource: 'agents', current: 3, limit: 3, tier: 'free' },
  too_many_streams: { code: 'too_many_streams', scope: 'workspace', limit: 1 },
  destroy_failed: { code: 'still_running', message: 'the workflow goes on' },
  not_an_approver: {
    code: 'not_an_approver',
    message: 'others decide here',
    approvers: { members: ['a@b.example'] },
    escalate_to: null,
    can_answer: ['a@b.example', 'c@b.example'],
  },
  in_use: {
    code: 'in_use',
    message: 'the agent one is used by a job',
    used_by: [{ kind: 'job', name: 'x' }],
    total: 1,
  },
  changed_since: { code: 'changed_since', message: 'it is another one now', wait_id: null, revision: null },
  already_answered: {
    code: 'already_answered',
    message: 'it is answered',
    answer: 'approved',
    answered_by: 'a@b.example',
    answered_at: '2026-11-25T12:00:00.000Z',
    answered_via: 'console',
    comment: null,
  },
  choose_workspace: { code: 'choose_workspace', workspaces: [{ workspace: 'acc-one' }] },
};

const isCode = (text: string): text is ProblemCode => text in PROBLEMS;
const isStructured = (text: string): text is StructuredCode => text in DETAILS;

/** @returns every body with which the service may tell of a problem */
function bodiesOf(code: ProblemCode): string[] {
  const { detail }: { status: number; detail?: string } = PROBLEMS[code];
  const plain = [detail ?? code, code, `${code}: it happened`];
  const structured = isStructured(code) ? [DETAILS[code], { error: code, tier: 'free', limit: 3 }] : [];
  return [...[...plain, ...structured].map((one) => JSON.stringify({ detail: one })), plain[0]!, `{"error":"${code}"}`];
}

let front: Server;
let answer: { status: number; body: string };
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  front = createServer((_, response) => void response.writeHead(answer.status).end(answer.body)).listen(0);
  await once(front, 'listening');
  const address = `http://127.0.0.1:${portOf(front)}`;
  env = { DATA_DIR: tmpdir(), AOS_URL: address, AOS_SESSION: 'some', AOS_API_KEY: 'some' };
});
afterAll(() => void front?.close());

/** One line: a sentence with what to do or what exactly is wrong, then the request. No word has an underscore but a setting. */
const SENTENCE = /^error: [A-Za-z][^_{}"]*(?:[A-Z]+_[A-Z_]+[^_{}"]*)* \(GET \S+\)\n$/;

// Guards: each problem of the contract, in each form that the service gives it, reaches a person without its code, and a program with it.
test.each(Object.keys(PROBLEMS).filter(isCode))('%s', async (code) => {
  for (const body of bodiesOf(code)) {
    answer = { status: PROBLEMS[code].status, body };
    const told = await runHere(['tools', 'show', 'one'], env);
    expect([body, told]).toEqual([body, { code: 1, stdout: '', stderr: expect.stringMatching(SENTENCE) }]);
    expect(told.stderr).not.toMatch(new RegExp(`\\b${code}\\b`));
    const { stderr } = await runHere(['tools', 'show', 'one', '--json'], env);
    expect(stderr.startsWith(told.stderr)).toBe(true);
    const { status, detail } = JSON.parse(stderr.slice(told.stderr.length));
    expect(status).toBe(PROBLEMS[code].status);
    expect(body).toContain(typeof detail === 'string' ? detail : JSON.stringify(detail));
  }
});

// Guards against: details above that the service would not send.
test.each(Object.keys(DETAILS).filter(isStructured))('%s is as in the contract', (code) => {
  const [body] = BODIES[code];
  expect(body?.safeParse({ detail: DETAILS[code] }).error).toBeUndefined();
});

// Guards: what an answer says beyond its code is told.
test.each([
  ['not_found: there is no agent nobody', 'there is no agent nobody'],
  [DETAILS.plan_limit_exceeded, 'resource agents, current 3, limit 3, tier free'],
  [DETAILS.not_an_approver, 'others decide here: a@b.example, c@b.example'],
  [DETAILS.validation, 'body.prompt: is required'],
  ['provider 402 card_declined: the card is declined', 'the payment provider answered 402: the card is declined'],
  ['not_thought_of_yet', 'the service refuses this: not thought of yet'],
])('%j', async (detail, said) => {
  answer = { status: 403, body: JSON.stringify({ detail }) };
  expect((await runHere(['tools', 'show', 'one'], env)).stderr).toContain(said);
});

// Guards: how a run failed is told without the code that its error begins with.
test.each(RUN_FAILURES)('a run that failed with %s', (code) =>
  expect(withoutCode(`${code}: the model said: no`)).toBe('the model said: no'),
);
