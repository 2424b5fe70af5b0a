import { expect, test } from '@jest/globals';
import * as client from '../../client/src/index.ts';
import { referencePage } from './reference.ts';

// Guards: the reference page describes the package's exports as they are declared.
test('the reference of the client is current', async () => {
  const { current, wanted } = await referencePage();
  if (current !== wanted) throw new Error('docs/client-reference.md is out of date: npm run docs:client');
  for (const name of Object.keys(client)) expect(current).toMatch(name);
});
