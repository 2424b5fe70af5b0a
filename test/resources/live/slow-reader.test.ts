/** A client that does not read, over real sockets. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { last, present } from '../../../src/platform/core/present.ts';
import { eventsIn, openStream } from '../../support/http/event-stream.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await startTestService({ worker: false, env: { LIVE_STREAM_LIFE: '1h' } });
  tenant = await service.tenant('acc_slow');
});
afterAll(() => service?.close());

/** More than sockets and the mailbox take together. */
const EVENTS = 160;
const EACH_BYTES = 200_000;
const write = (from: number, count: number) =>
  service.runtime.db.rows(sql`
    insert into log_events (customer_id, kind, topic, subject, payload)
    select ${tenant.caller.customerId}, 'wait', 'opened', series.n::text, jsonb_build_object('text', repeat('x', ${EACH_BYTES}::int))
    from generate_series(${from}::int, ${from + count - 1}::int) series (n) order by series.n`);

// Guards: a reader that takes nothing is cut off with a word that says so, what waited for it is dropped, and no other reader is
// held up. When it connects again after the last event that it saw, it gets everything once.
test('is cut off, and resumes without loss', async () => {
  const url = `${service.baseUrl}/api/v1/cp/v1/live`;
  const cookie = `service_session=${tenant.session}`;
  const headers = { cookie, accept: 'text/event-stream' };
  const [slow] = (await once(get(url, { headers, agent: false }), 'response')) as [IncomingMessage];
  slow.pause();
  const other = await openStream(url, { cookie });
  await other.first(({ event }) => event === 'open');
  await write(1, EVENTS);
  await other.first(({ data }) => data.event?.id === String(EVENTS));
  // All that came at once is no sign of a slow reader; that it still waits when more comes is.
  await write(EVENTS + 1, 1);
  await other.first(({ data }) => data.event?.id === String(EVENTS + 1));
  await other.close();

  const chunks: Buffer[] = [];
  for await (const chunk of slow) chunks.push(Buffer.from(chunk));
  const seen = eventsIn(Buffer.concat(chunks).toString());
  expect(last(seen)).toEqual({ event: 'end', data: { reason: 'slow_reader' } });
  const had = seen.filter(({ event }) => event === 'wait');
  expect(had.length).toBeLessThan(EVENTS);

  const resumed = await openStream(url, { cookie, 'last-event-id': present(seen.findLast(({ id }) => id)?.id) });
  await resumed.first(({ data }) => data.event?.id === String(EVENTS + 1));
  const rest = resumed.events.filter(({ event }) => event === 'wait');
  expect([...had, ...rest].map(({ data }) => data.event.id)).toEqual(
    Array.from({ length: EVENTS + 1 }, (_, n) => String(n + 1)),
  );
  await resumed.close();
});
