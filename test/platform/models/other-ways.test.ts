/** Other ways to call a provider that capabilities.test.ts has: Amazon Bedrock with an access key, Azure OpenAI in a dated version. */
import { describe, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { AZURE } from '../../support/model-wires/azure.ts';
import { AMAZON } from '../../support/model-wires/bedrock.ts';
import { KEY } from '../../support/model-wires/fixture.ts';
import { failureOf, server, toldNext, useProvider, wired } from './calls.ts';

useProvider();

const PROVIDERS = { ...AMAZON, ...AZURE };

describe.each(Object.entries(PROVIDERS))('%s', (_, fixture) => {
  const { model, env, turn, end, usage, path, headers, sent, failures } = fixture;
  test('stream, tools, reasoning, usage: and what is sent', async () => {
    const { given, ask } = wired({ model, env });
    server.script(turn, end);
    const reply = await ask();
    expect(reply).toMatchObject({ text: '', toolCalls: [{ tool: 'add', arguments: { a: 2 } }], usage });
    const messages = await toldNext(reply, given.resolved);
    expect(await ask({ messages })).toMatchObject({ text: 'Four.' });
    const request = present(server.requests.at(-1));
    expect(request.path).toBe(path);
    expect(request.headers).toMatchObject(headers);
    expect(request.body).toMatchObject(sent);
  });

  test.each(failures)('errors: %s', async (__, reply, code, more = {}) => {
    const { models, given } = wired({ model, env });
    server.script(reply);
    const failure = await failureOf(given, models);
    expect(failure).toMatchObject({ code, ...more });
    expect(failure.message).not.toContain(KEY);
    expect(server.requests).toHaveLength(1);
  });
});
