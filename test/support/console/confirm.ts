/** The code that a request of the console needs, typed where it is asked for. */
import type { Page as Tab } from 'playwright-core';
import { codeOf } from '../service/otp.ts';

/** Types the code that the request which is sent by pressing was mailed. */
export async function confirm(tab: Tab, press: () => Promise<void>): Promise<void> {
  const demanded = tab.waitForResponse((response) => response.status() === 403);
  await press();
  const { detail } = (await (await demanded).json()) as { detail: { challenge_id: string } };
  const box = tab.getByRole('dialog', { name: 'Confirm with a code' });
  await box.getByLabel('Code').fill(codeOf(detail.challenge_id));
  await box.getByRole('button', { name: 'Confirm' }).click();
  await box.waitFor({ state: 'detached' });
}
