/** A signed-in tab of the console, which remembers what the browser complained of. */
import type { Browser, BrowserContext, BrowserContextOptions, Page as Tab } from 'playwright-core';
import type { Tenant, TestService } from '../service/service.ts';

export interface ConsoleTab {
  tab: Tab;
  context: BrowserContext;
  /** A policy that refuses something, an error of a page, a request that failed. */
  complaints: string[];
  open(path: string): Promise<void>;
}

export const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** @param tenant whose owner is signed in; nobody is, where there is none */
export async function openConsole(
  browser: Browser,
  { baseUrl }: Pick<TestService, 'baseUrl'>,
  tenant?: Pick<Tenant, 'session'>,
  options: BrowserContextOptions = {},
): Promise<ConsoleTab> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 }, ...options });
  context.setDefaultTimeout(60_000);
  if (tenant) await context.addCookies([{ name: 'service_session', value: tenant.session, url: baseUrl }]);
  const tab = await context.newPage();
  const complaints: string[] = [];
  tab.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  tab.on('pageerror', ({ message }) => complaints.push(message));
  return { tab, context, complaints, open: async (path) => void (await tab.goto(`${baseUrl}/console${path}`)) };
}

export const isWiderThanItsWindow = (tab: Tab): Promise<boolean> =>
  tab.evaluate(`[document.documentElement, document.querySelector('[data-scroll]')]
    .some((part) => part && part.scrollWidth > part.clientWidth)`);
