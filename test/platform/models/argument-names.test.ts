/** Arguments whose names providers refuse: told by another name, called by it, and replayed with it. */
import { expect, test } from '@jest/globals';
import { fieldsOf } from '../../../src/platform/core/record.ts';
import { callTools } from '../../support/fakes/openai-server.ts';
import { call, server, useProvider, user } from './calls.ts';

useProvider();

const query = {
  name: 'mcp.crm.query',
  description: 'asks for rows',
  parameters: {
    type: 'object',
    properties: {
      $filter: { type: 'string', description: 'OData' },
      'a.b': { type: 'string' },
      page: { type: 'object', properties: { 'start[]': { type: 'number' } }, required: ['start[]'] },
      rows: { type: 'array', items: { type: 'object', properties: { '@id': { type: 'string' } } } },
      free: { type: 'object' },
    },
    required: ['$filter'],
  },
};
const own = { $filter: 'a', 'a.b': 'c', page: { 'start[]': 1 }, rows: [{ '@id': 'x' }], free: { 'left alone!': 1 } };

/** What the server was told of the tool in its latest request. */
const told = () => {
  const [tool] = server.requests.at(-1)?.body.tools ?? [];
  return fieldsOf(fieldsOf(tool?.function).parameters);
};
/** @returns the one name that begins so */
const wireOf = (schema: unknown, start: string) => {
  const names = Object.keys(fieldsOf(fieldsOf(schema).properties)).filter((name) => name.startsWith(start));
  expect(names).toHaveLength(1);
  return String(names[0]);
};

// Guards against: a request that is refused whole for the name of one argument, and a tool that is called with names that it
// does not have.
test('are told, taken and replayed by a name that every provider takes', async () => {
  server.script(callTools({ id: 'c1', name: 'none', arguments: {} }));
  await call({ tools: [query] });
  const { properties, required } = told();
  const of = fieldsOf(properties);
  const filter = wireOf(told(), '_filter_');
  const start = wireOf(of.page, 'start');
  const id = wireOf(fieldsOf(of.rows).items, '_id');
  expect(of[filter]).toEqual({ title: '$filter', type: 'string', description: 'OData' });
  expect(Object.keys(of)).toEqual([filter, 'a.b', 'page', 'rows', 'free']);
  expect(required).toEqual([filter]);
  expect(fieldsOf(of.page).required).toEqual([start]);

  const wire = { [filter]: 'a', 'a.b': 'c', page: { [start]: 1 }, rows: [{ [id]: 'x' }], free: own.free };
  const name = String(server.requests.at(-1)?.body.tools?.[0]?.function.name);
  server.script(callTools({ id: 'c1', name, arguments: wire }, { id: 'c2', name, arguments: own }));
  const reply = await call({ tools: [query] });
  expect(reply.toolCalls.map(({ tool, arguments: args }) => [tool, args])).toEqual([
    [query.name, own],
    [query.name, own],
  ]);

  server.script(callTools({ id: 'c3', name, arguments: wire }));
  await call({
    tools: [query],
    messages: [
      user('Which rows?'),
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'call_1_0', toolName: query.name, input: own }],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'call_1_0', toolName: query.name, output: { type: 'json', value: own } },
        ],
      },
    ],
  });
  const [, , asked, result] = server.requests.at(-1)?.body.messages.map(fieldsOf) ?? [];
  const [made] = Array.isArray(asked?.tool_calls) ? asked.tool_calls : [];
  expect(JSON.parse(String(fieldsOf(fieldsOf(made).function).arguments))).toEqual(wire);
  // What the tool said is its own.
  expect(JSON.parse(String(result?.content))).toEqual(own);
});
