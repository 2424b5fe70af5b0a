import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first, present } from '../../../src/platform/core/present.ts';
import { openApiDocument } from '../../../src/platform/http/openapi.ts';
import { otpHeaders } from '../../support/service/otp.ts';
import { startMailServer, type MailServer } from '../../support/fakes/smtp-server.ts';
import { setNote, startGated } from './gated-service.ts';

let server: MailServer;
let service: Awaited<ReturnType<typeof startGated>>;
beforeAll(async () => {
  server = await startMailServer({ authOptional: true });
  const smtpUrl = `smtp://127.0.0.1:${server.port}?tls.rejectUnauthorized=false`;
  service = await startGated({ smtpUrl, inbox: 'admin@operator.example' });
});
afterAll(async () => {
  await service.close();
  await server.close();
});

// Guards: the code comes by mail to the operator's inbox, with what it confirms; the answer shows a masked address only.
test('mails the code to the operator', async () => {
  const { put } = await service.tenant('acc_mailed');
  const { body } = await put('a', 'hello');
  expect(body.detail.delivery).toBe('email:a***@operator.example');
  const mail = first(server.mails);
  expect(mail.to).toEqual(['admin@operator.example']);
  expect(mail.text).toContain('note.set:a');
  const [, code] = present(/^Code: (\d{6})\r?$/m.exec(mail.text));
  expect(JSON.stringify(body)).not.toContain(code);
  expect((await put('a', 'hello', otpHeaders(body.detail.challenge_id, code))).status).toBe(200);
});

// Guards: where mail fails the caller is told so, and no challenge is left whose code nobody has.
test('without its mail there is no challenge', async () => {
  const { put } = await service.tenant('acc_unmailed');
  await server.close();
  expect(await put('a', 'hello')).toMatchObject({
    status: 502,
    body: { detail: 'mail_failed: the mail server could not be reached' },
  });
  const left = await service.db.rows(sql`select id from otp_challenges where customer_id = 'unmailed'`);
  expect(left).toEqual([]);
});

// Guards: the OpenAPI document has the headers and answers of the gate, although the endpoint's contract does not
// repeat them.
test('is in the OpenAPI document of every gated endpoint', () => {
  const { paths } = openApiDocument({
    title: 'T',
    description: 'D',
    version: '1',
    servers: [],
    surface: 'control-plane',
    endpoints: [setNote],
  });
  const { parameters, responses } = paths!['/v1/notes/{slug}']!.put!;
  expect(parameters).toEqual(
    expect.arrayContaining(
      ['x-service-otp-challenge', 'x-service-otp-code'].map((name) => expect.objectContaining({ name, in: 'header' })),
    ),
  );
  expect(present(responses)['403'].description).toContain('`otp_required`, `otp_locked`, `otp_mail_limit`');
  expect(JSON.stringify(present(responses)['403'])).toContain('OtpProblem');
  expect(present(responses)['502'].description).toContain('`mail_failed`');
});
