import type { Browser, CDPSession } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

export interface RawTab {
  /** Shows this tab, which hides the others. */
  readonly show: () => Promise<void>;
  /** The value of an expression in the page. */
  readonly value: (expression: string) => Promise<unknown>;
}

interface Answer {
  readonly id?: number;
  readonly result?: { readonly result?: { readonly value?: unknown } };
}

/**
 * Tabs of one window, of which one is seen. Playwright makes each of its own pages believe that it is seen, so these are
 * opened and asked by the browser's protocol. `address`: the one that was printed last.
 */
export async function openRawTabs(browser: Browser, address: () => string, count: number): Promise<RawTab[]> {
  const session = await browser.newBrowserCDPSession();
  const { browserContextId } = await session.send('Target.createBrowserContext');
  onTestFinished(async () => {
    await session.send('Target.disposeBrowserContext', { browserContextId });
  });
  const tabs: RawTab[] = [];
  for (let i = 0; i < count; i++) {
    const url = address();
    const { targetId } = await session.send('Target.createTarget', { url, browserContextId });
    tabs.push(await rawTab(session, targetId));
    // It opened the page: there is a next one.
    await expect.poll(address).not.toBe(url);
  }
  return tabs;
}

async function rawTab(session: CDPSession, targetId: string): Promise<RawTab> {
  const { sessionId } = await session.send('Target.attachToTarget', { targetId });
  const waiting = new Map<number, (answer: Answer) => void>();
  session.on('Target.receivedMessageFromTarget', (event) => {
    if (event.sessionId !== sessionId) return;
    const answer = JSON.parse(event.message) as Answer;
    waiting.get(answer.id ?? 0)?.(answer);
    waiting.delete(answer.id ?? 0);
  });
  let last = 0;
  return {
    async show() {
      await session.send('Target.activateTarget', { targetId });
    },
    async value(expression) {
      last += 1;
      const answered = new Promise<Answer>((resolve) => waiting.set(last, resolve));
      const message = JSON.stringify({
        id: last,
        method: 'Runtime.evaluate',
        params: { expression, returnByValue: true, awaitPromise: true },
      });
      await session.send('Target.sendMessageToTarget', { message, sessionId });
      return (await answered).result?.result?.value;
    },
  };
}
