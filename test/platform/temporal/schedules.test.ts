/** The times that are shown of a schedule are those at which Temporal fires: asked of Temporal itself. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cronProblem, nextRun } from '../../../src/platform/core/cron.ts';
import { first, present } from '../../../src/platform/core/present.ts';
import { specOf } from '../../../src/platform/temporal/schedules.ts';
import { attempts, tried } from '../../support/runner/sizes.ts';
import { connectTestTemporal, type TestTemporal } from '../../support/temporal/temporal.ts';

let temporal: TestTemporal;
beforeAll(async () => {
  temporal = await connectTestTemporal();
});
afterAll(() => temporal?.close());

/** As Temporal has it, seconds and all. */
async function timesOf(cron: string): Promise<string[]> {
  const handle = await temporal.client.schedule.create({
    scheduleId: `${temporal.queuePrefix}${crypto.randomUUID()}`,
    spec: specOf({ cron }),
    action: { type: 'startWorkflow', workflowType: 'none', taskQueue: temporal.queuePrefix },
    state: { paused: true },
  });
  const { info } = await handle.describe();
  await handle.delete();
  return info.nextActionTimes.map((time) => time.toISOString());
}

const valueOf = (from: number, to: number) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant('*') },
    { weight: 3, arbitrary: fc.integer({ min: from, max: to }).map(String) },
    { weight: 2, arbitrary: fc.integer({ min: 2, max: Math.min(to, 9) }).map((step) => `*/${step}`) },
    {
      weight: 2,
      arbitrary: fc
        .uniqueArray(fc.integer({ min: from, max: to }), { minLength: 2, maxLength: 3 })
        .map((values) => values.sort((a, b) => a - b))
        .chain((values) =>
          fc.constantFrom(values.join(','), `${values[0]}-${values.at(-1)}`, `${values[0]}-${values.at(-1)}/2`),
        ),
    },
    { weight: 1, arbitrary: fc.integer({ min: from, max: to }).map((value) => `${value}-${to}`) },
  );
const crons = fc
  .tuple(valueOf(0, 59), valueOf(0, 23), valueOf(1, 31), valueOf(1, 12), valueOf(0, 7))
  .map((fields) => fields.join(' '))
  .filter((cron) => cronProblem(cron) === undefined);

// Guards: a job's next times are the ones at which it really runs. Several are compared, because one may be right by
// chance.
test('of any expression', async () => {
  await fc.assert(
    fc.asyncProperty(crons, async (cron) => {
      const theirs = await timesOf(cron);
      const ours: string[] = [];
      for (let at = new Date(); ours.length < theirs.length;) {
        at = present(nextRun(cron, at));
        ours.push(at.toISOString());
      }
      // What is due in the second in which it is asked may be past for one of them.
      const from = first(theirs) < first(ours) ? 1 : 0;
      // All of them: what is wrong with a weekday may come a week later.
      const last = theirs.length - 1;
      expect({ cron, times: ours.slice(0, last) }).toEqual({ cron, times: theirs.slice(from, from + last) });
      tried('cron expressions agreed on');
    }),
    {
      ...attempts(60, 1_000),
      examples: [
        ['0 0 */2 * 2'],
        ['0 0 1 * 2'],
        ['0 0 */2 * */3'],
        ['0 0 * * 0-7'],
        ['0 0 * * 1-7'],
        ['0 0 * * 1,3-7/2'],
      ],
    },
  );
});
