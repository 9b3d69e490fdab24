import type { BrowserContext, Page } from 'playwright-core';
import { inspect, leadOf, receiver } from './inspected.ts';
import { shownPage } from './shown-page.ts';

/** The page over an inbox with one delivery, `lead_1` of Ada, which is open. */
export async function openedDelivery(
  contextOf: () => Promise<BrowserContext>,
): Promise<{ readonly page: Page; readonly url: string }> {
  const { home, deliver } = await receiver();
  await deliver(leadOf('lead_1', 'Ada'));
  const { url } = await inspect(home);
  const page = await shownPage(await contextOf(), url);
  await page.locator('.row').click();
  await page.locator('.delivery').waitFor();
  return { page, url };
}
