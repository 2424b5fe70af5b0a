/** A list's rows, its total and its pages come from one choice of filters. */
import { expect, test } from '@jest/globals';
import { eq } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { runs } from '../../../src/resources/runs/table.ts';
import { listFilters } from '../../../src/resources/tallies/store.ts';

const CONDITIONS = {
  agent: (agent: string) => eq(runs.agent, agent),
  transport: (transport: string) => eq(runs.transport, transport),
};
const chooseRuns = listFilters('runs', runs.customerId, CONDITIONS);

// Guards against: a total of other rows than the list shows.
test('a filter decides the rows and what counts them', () => {
  const { where, tallied } = chooseRuns('acc_one', { agent: 'writer', transport: undefined });
  const { sql, params } = new PgDialect().sqlToQuery(where!);
  expect({ sql, params }).toEqual({
    sql: '("runs"."customer_id" = $1 and "runs"."agent" = $2)',
    params: ['acc_one', 'writer'],
  });
  expect(tallied).toMatchObject({ list: 'runs', customerId: 'acc_one', filter: { agent: 'writer' } });
});

// Guards against: a filter that a list's rows know and its tally does not, or the other way. The compiler reports an expectation
// below that does not fail.
test('a filter in one place only does not compile', () => {
  const filter: { agent?: string; status?: string } = { status: 'failed' };
  // @ts-expect-error -- the tally of runs does not count by status
  chooseRuns('acc_one', filter);
  // @ts-expect-error -- a filter that the tally counts has no condition
  listFilters('runs', runs.customerId, { agent: CONDITIONS.agent });
  // @ts-expect-error -- a condition that the tally does not count by
  listFilters('runs', runs.customerId, { ...CONDITIONS, status: CONDITIONS.agent });
  // @ts-expect-error -- an agent is a text
  chooseRuns('acc_one', { agent: 1 });
});
