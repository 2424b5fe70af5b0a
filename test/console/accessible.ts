/** What people need who do not see a page, or see it on a small screen. */
import { AxeBuilder } from '@axe-core/playwright';
import { expect } from '@jest/globals';
import type { Page as Tab } from 'playwright-core';
import { isWiderThanItsWindow, type ConsoleTab } from './browser.ts';

/** What axe finds wrong with the page as it is, by WCAG 2.2 AA. */
async function accessibilityFaults(tab: Tab): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page: tab })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}

/** Opens each page, waits for what it shows, and looks at it with axe and for whatever makes it wider than its window. */
export async function expectAccessible(
  { tab, open }: Pick<ConsoleTab, 'tab' | 'open'>,
  pages: readonly [path: string, shown: string][],
): Promise<void> {
  for (const [path, shown] of pages) {
    await open(path);
    await tab
      .locator('#main')
      .getByRole(shown as 'list')
      .first()
      .waitFor();
    expect([path, ...(await accessibilityFaults(tab))]).toEqual([path]);
    expect([path, await isWiderThanItsWindow(tab)]).toEqual([path, false]);
  }
}
