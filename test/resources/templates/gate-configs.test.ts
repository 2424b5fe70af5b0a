/** What the configuration of a gate may say, and how its author learns what it may not. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { GateKind, StepSpec } from '../../../src/resources/templates/model.ts';
import { checkSpec } from '../../../src/resources/templates/spec.ts';
import { gate, phase, spec } from './specs.ts';

const withGate = (of: Partial<StepSpec>) => ({ ...spec({ phases: [phase('p', { steps: [gate('a', of)] })] }) });

// Guards: a spec is kept as it was read, so that an approver typed with a capital letter is the one who signs in.
test('keeps what a gate is read as', () => {
  const approvers = (address: string) => ({ members: [address], emails: [address] });
  const written = { gate_config: { approvers: approvers('Carl@Example.COM'), prompt: 'Good?' } };
  expect(checkSpec(withGate(written))).toMatchObject({
    spec: { phases: [{ steps: [{ gate_config: { approvers: approvers('carl@example.com'), prompt: 'Good?' } }] }] },
  });
});

// Guards against: a project that pays for its work and then stops at a gate that nobody could have opened.
describe('a gate whose configuration can never work', () => {
  const near = (name: string) => `Unknown field; did you mean "${name}"?`;
  test.each<[string, GateKind, Record<string, unknown> | undefined, string]>([
    ['promt', 'human', { promt: 'Good?' }, `.promt: ${near('prompt')}`],
    ['quorums', 'human', { quorums: 2 }, `.quorums: ${near('quorum')}`],
    ['aprovers', 'human', { aprovers: {} }, `.aprovers: ${near('approvers')}`],
    ['on_timout', 'human', { on_timout: 'reject' }, `.on_timout: ${near('on_timeout')}`],
    ['due_in', 'human', { due_in: 60 }, `.due_in: ${near('due_in_s')}`],
    ['foureyes', 'human', { foureyes: true }, `.foureyes: ${near('four_eyes')}`],
    [
      'a wrong name within',
      'human',
      { approvers: { member: ['a@b.example'] } },
      `.approvers.member: ${near('members')}`,
    ],
    ['a wrong word', 'human', { on_reject: 'redo' }, '.on_reject: Invalid option: expected one of "pause"|"rework"'],
    ['a wrong type', 'webhook', { expires_in_s: '60' }, '.expires_in_s: Invalid input'],
    ['a wrong name for a webhook', 'webhook', { expires_s: 60 }, `.expires_s: ${near('expires_in_s')}`],
    ['a macro', 'schedule', { cron: '@daily' }, '.cron: "@daily" is not a five-field expression'],
    ['a day that never comes', 'schedule', { cron: '0 0 31 2 *' }, '.cron: "0 0 31 2 *" never comes'],
    ['two times', 'schedule', { at: '2030-01-01T00:00:00Z', delay_s: 1 }, ': needs exactly one of at, delay_s, cron'],
    ['no time', 'schedule', undefined, ': needs exactly one of at, delay_s, cron'],
    ['no project', 'pipeline_dep', {}, '.project_id: Invalid input'],
    ['a wrong name for a project', 'pipeline_dep', { project: 'p' }, `.project: ${near('project_id')}`],
  ])('has %s', (_, gate_kind, gate_config, fault) => {
    const { faults } = z.object({ faults: z.array(z.string()) }).parse(checkSpec(withGate({ gate_kind, gate_config })));
    expect(faults.join('; ')).toContain(`phases[0].steps[0].gate_config${fault}`);
  });
});
