import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { inspect, type Receiver, receiver } from './inspected.ts';

const violations = 'violations';

/** A context of its own, whose pages must make no error, no foreign request and no violation of the policy. */
export async function freshContext(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(20_000);
  onTestFinished(() => context.close());
  await context.addInitScript((item) => {
    addEventListener('securitypolicyviolation', (event) => {
      const old = sessionStorage.getItem(item) ?? '';
      sessionStorage.setItem(item, `${old}${event.violatedDirective} ${event.blockedURI}\n`);
    });
  }, violations);
  return context;
}

/**
 * The page at that URL, once it shows its list or why it does not. At the end of the test it must be clean; of errors, those that
 * the browser itself reports of requests that failed on purpose are `allowed`.
 */
export async function shownPage(context: BrowserContext, url: string, allowed = /^$/): Promise<Page> {
  const page = await context.newPage();
  const { origin } = new URL(url);
  const errors: string[] = [];
  const foreign: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) foreign.push(request.url());
  });
  await page.goto(url);
  onTestFinished(async () => {
    expect(foreign).toEqual([]);
    expect(errors.filter((error) => !allowed.test(error))).toEqual([]);
    expect(await page.evaluate((item) => sessionStorage.getItem(item), violations)).toBeNull();
  });
  return page;
}

interface ShownOptions {
  /** Words of `leads listen` and of `leads inspect`. */
  readonly listen?: readonly string[];
  readonly inspect?: readonly string[];
  readonly allowed?: RegExp;
}

/** The page over the inbox in `home`, in a context of its own. */
export async function shownInbox(
  browser: Browser,
  home: string,
  { inspect: words, allowed }: ShownOptions = {},
): Promise<Page> {
  const { url } = await inspect(home, words);
  return shownPage(await freshContext(browser), url, allowed);
}

/** A receiver that got these bodies, and the page over its inbox, live. */
export async function shownReceiver(
  browser: Browser,
  bodies: readonly unknown[],
  options: ShownOptions = {},
): Promise<Receiver & { readonly page: Page }> {
  const listening = await receiver(options.listen);
  for (const body of bodies) await listening.deliver(body);
  const page = await shownInbox(browser, listening.home, options);
  await expectLive(page);
  return { ...listening, page };
}

/** The names or ids of the rows that are drawn, from the top. */
export const rowNames = (page: Page): Promise<string[]> => page.locator('.row .row-name').allTextContents();

export const expectLive = (page: Page): Promise<void> => page.locator('.connection.is-live').waitFor();
