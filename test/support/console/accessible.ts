/** What people need who do not see a page, or see it on a small screen. */
import { AxeBuilder } from '@axe-core/playwright';
import { expect, test } from '@jest/globals';
import type { Page as Tab } from 'playwright-core';
import { isWiderThanItsWindow, PHONE } from './browser.ts';
import type { Stage } from './stage.ts';

/** What axe finds wrong with the page as it is, by WCAG 2.2 AA. */
async function accessibilityFaults(tab: Tab): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page: tab })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    // The console has no frame of another origin, so axe need not open a page of its own to put the results together.
    .setLegacyMode(true)
    .analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}

export type Pages = readonly (readonly [path: string, shown: string])[];

/**
 * Opens each page, waits for what it shows, and looks at it with axe, at a desk in both themes and on a phone in one, and
 * for whatever makes it wider than its window.
 */
export function testAccessibility(
  stage: Pick<Stage, 'show'>,
  pagesOf: () => Promise<Pages>,
  { onPhone = 'light' }: { onPhone?: 'light' | 'dark' } = {},
): void {
  test.each([
    ['at a desk', {}, ['light', 'dark']],
    ['on a phone', PHONE, [onPhone]],
  ] as const)('axe finds nothing %s', async (_where, device, themes) => {
    // Without motion a theme is there at once, and no colour is looked at half-way to the next.
    const { tab, open, complaints } = await stage.show({ ...device, reducedMotion: 'reduce' });
    for (const [path, shown] of await pagesOf()) {
      await tab.emulateMedia({ colorScheme: themes[0] });
      await open(path);
      await tab
        .locator('#main')
        .getByRole(shown as 'list')
        .first()
        .waitFor();
      for (const colorScheme of themes) {
        await tab.emulateMedia({ colorScheme });
        expect([path, colorScheme, ...(await accessibilityFaults(tab))]).toEqual([path, colorScheme]);
      }
      expect([path, await isWiderThanItsWindow(tab)]).toEqual([path, false]);
    }
    expect(complaints).toEqual([]);
  });
}
