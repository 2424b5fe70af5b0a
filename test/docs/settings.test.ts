import { expect, test } from '@jest/globals';
import { settings } from '../../src/platform/core/settings.ts';
import { settingsTable } from './settings-table.ts';

// Guards: the page describes every setting as the program has it.
test('docs/configuration.md has the current table of settings', async () => {
  const { current, wanted } = await settingsTable();
  if (current !== wanted) throw new Error('docs/configuration.md is out of date: npm run docs:settings');
  for (const name of Object.keys(settings.shape)) expect(current).toContain(`\`${name}\``);
});
