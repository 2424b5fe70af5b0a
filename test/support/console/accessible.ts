/** What people need who do not see a page, or see it on a small screen. */
import { AxeBuilder } from '@axe-core/playwright';
import { expect, test } from '@jest/globals';
import type { BrowserContextOptions, Page as Tab } from 'playwright-core';
import { first } from '../../../src/platform/core/present.ts';
import { drawn } from '../runner/sizes.ts';
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
 * for whatever makes it wider than its window. A run that draws looks at each page in one of these ways.
 */
export function testAccessibility(
  stage: Pick<Stage, 'show'>,
  pagesOf: () => Promise<Pages>,
  { onPhone = 'light' }: { onPhone?: 'light' | 'dark' } = {},
): void {
  const ways = [
    ['at a desk', 'light'],
    ['at a desk', 'dark'],
    ['on a phone', onPhone],
  ] as const;
  test.each([
    ['at a desk', {}],
    ['on a phone', PHONE],
  ] as const)('axe finds nothing %s', lookAt, 300_000);

  async function lookAt(where: string, device: BrowserContextOptions): Promise<void> {
    // Without motion a theme is there at once, and no colour is looked at half-way to the next.
    const { tab, open, complaints } = await stage.show({ ...device, reducedMotion: 'reduce' });
    const pages = await pagesOf();
    for (const [at, [path, shown]] of pages.entries()) {
      const drawnWays = drawn(`ways that axe looks at a page: ${at} of ${pages.length}`, ways, 1);
      const themes = drawnWays.flatMap(([place, theme]) => (place === where ? [theme] : []));
      if (themes.length === 0) continue;
      await tab.emulateMedia({ colorScheme: first(themes) });
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
  }
}
