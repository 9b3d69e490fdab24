import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { inspect } from './inspected.ts';

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

export interface ShownPage {
  readonly page: Page;
  /** Of errors: those that the browser itself reports of requests that failed on purpose are allowed. */
  readonly expectClean: (allowed?: RegExp) => Promise<void>;
}

/** The page at that URL, once it shows its list or why it does not. */
export async function shownPage(context: BrowserContext, url: string): Promise<ShownPage> {
  const page = await context.newPage();
  const { origin } = new URL(url);
  const errors: string[] = [];
  const foreign: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith(`blob:${origin}/`)) {
      foreign.push(request.url());
    }
  });
  await page.goto(url);
  return {
    page,
    async expectClean(allowed = /^$/) {
      expect(foreign).toEqual([]);
      expect(errors.filter((error) => !allowed.test(error))).toEqual([]);
      expect(await page.evaluate((item) => sessionStorage.getItem(item), violations)).toBeNull();
    },
  };
}

/** The page over the inbox in `home`, in a context of its own. `words`: of the command. */
export async function shownInbox(
  browser: Browser,
  home: string,
  words: readonly string[] = [],
): Promise<ShownPage> {
  const { url } = await inspect(home, words);
  return shownPage(await freshContext(browser), url);
}

/** The names or ids of the rows that are drawn, from the top. */
export const rowNames = (page: Page): Promise<string[]> => page.locator('.row .row-name').allTextContents();

export const expectLive = (page: Page): Promise<void> => page.locator('.connection.is-live').waitFor();
