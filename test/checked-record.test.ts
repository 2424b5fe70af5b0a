/** What API and worker look at before they begin. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkRecord } from '../src/checked-record.ts';
import { createServices } from '../src/compose/services.ts';
import { recordStatements } from './support/database/statements.ts';
import { startTestService, type TestService } from './support/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ worker: false });
});
afterAll(async () => service?.close());

// Guards: where both are one process, the record is looked at once, with few statements.
test('the record is checked once a process', async () => {
  const services = createServices(service.runtime);
  try {
    const asked = await recordStatements(() =>
      Promise.all([checkRecord(service.runtime, services), checkRecord(service.runtime, services)]),
    );
    expect(asked.map(({ text }) => text)).toHaveLength(4);
  } finally {
    await services.close();
  }
});
