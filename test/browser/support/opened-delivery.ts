import type { BrowserContext } from 'playwright-core';
import { inspect, leadOf, receiver } from './inspected.ts';
import { type ShownPage, shownPage } from './shown-page.ts';

/** The page over an inbox with one delivery, `lead_1` of Ada, which is open. `more`: words of the command. */
export async function openedDelivery(
  contextOf: () => Promise<BrowserContext>,
  more: readonly string[] = [],
): Promise<ShownPage & { readonly url: string }> {
  const { home, deliver } = await receiver();
  await deliver(leadOf('lead_1', 'Ada'));
  const { url } = await inspect(home, more);
  const shown = await shownPage(await contextOf(), url);
  await shown.page.locator('.row').click();
  await shown.page.locator('.delivery').waitFor();
  return { ...shown, url };
}
