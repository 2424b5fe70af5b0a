/**
 * What tests of the console play on: one service, one browser and one workspace for all tests of a file. The tabs of a
 * test are closed behind it.
 */
import { afterAll, afterEach, beforeAll, describe } from '@jest/globals';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { present } from '../../../src/platform/core/present.ts';
import { launchBrowser } from '../programs/chromium.ts';
import { isMissing, reasonOf } from '../programs/missing.ts';
import { startTestService, type Tenant, type TestService } from '../service/service.ts';
import { openConsole, type ConsoleTab } from './browser.ts';

export interface Stage {
  /** These are there from the first test on. */
  readonly service: TestService;
  readonly browser: Browser;
  readonly acme: Tenant;
  /** Opens a tab for the owner of the workspace, for somebody else, or for nobody (null). */
  show(options?: BrowserContextOptions, tenant?: Pick<Tenant, 'session'> | null): Promise<ConsoleTab>;
}

interface StageOptions {
  /** Starts the service, where it is not the usual one. */
  start?: () => Promise<TestService>;
}

/**
 * Describes tests in a browser of their own, which are skipped where none can be started. It has to be awaited.
 * @param what would not be proved then
 */
export async function describeConsole(
  what: string,
  { start }: StageOptions,
  tests: (stage: Stage) => void,
): Promise<void> {
  // This module is shared by all files that one worker runs, and each of them closes its browser.
  const launched = launchBrowser();
  const isWithout = isMissing(`${what} in the console`, await reasonOf(launched));
  (isWithout ? describe.skip : describe)(what, () => {
    let set: Pick<Stage, 'service' | 'browser' | 'acme'> | undefined;
    const opened: ConsoleTab[] = [];
    const stage: Stage = {
      get service() {
        return present(set).service;
      },
      get browser() {
        return present(set).browser;
      },
      get acme() {
        return present(set).acme;
      },
      async show(options = {}, tenant = stage.acme) {
        const tab = await openConsole(stage.browser, stage.service, tenant ?? undefined, options);
        opened.push(tab);
        return tab;
      },
    };

    beforeAll(async () => {
      const [service, browser] = await Promise.all([start ? start() : startTestService(), launched]);
      set = { service, browser, acme: await service.tenant('acc_acme') };
    });
    afterAll(async () => {
      await set?.browser.close();
      await set?.service.close();
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map(({ context }) => context.close()));
    });
    tests(stage);
  });
}
