import { render, type VNode } from 'preact';
import { onPageKey } from './keys.ts';
import { Mark, Page } from './page.tsx';
import { openSession, watchReloads } from './state/api.ts';
import { PageModel } from './state/page-model.ts';
import { type Problem, problemOf } from './state/problem.ts';
import { sentence } from './text/format.ts';

const root = document.getElementById('app') ?? document.body;

const retryMs = 2_000;

async function start(): Promise<void> {
  try {
    const { api, inbox } = await openSession();
    const model = new PageModel(api, inbox, draw);
    document.addEventListener('keydown', (event) => onPageKey(event, model));
    draw(model);
    await model.run();
  } catch (error) {
    const problem = problemOf(error);
    render(<CannotStart problem={problem} />, root);
    if (!problem.needsNewUrl) setTimeout(() => void start(), retryMs);
  }
}

/** Draws the page. Where that removes the element with the focus, the focus goes to the part of the page that held the element. */
function draw(model: PageModel): void {
  const { seq } = model.address;
  document.title = `${seq === null ? 'Inbox' : `Delivery ${seq}`} · leads inspect`;
  const focused = document.activeElement;
  const part = focused?.closest('#pane') === null ? 'list' : 'pane';
  render(<Page model={model} />, root);
  if (focused?.isConnected === false) document.getElementById(part)?.focus({ preventScroll: true });
}

const CannotStart = ({ problem: { code, message, hint, needsNewUrl } }: { problem: Problem }): VNode => (
  <main class="cannot-start">
    <Mark />
    <div role="alert">
      <h1>{needsNewUrl ? 'Open the new URL' : 'No connection'}</h1>
      {needsNewUrl ? (
        <p>
          {code === 'wrong-key' ? 'The key in this URL is not valid.' : 'This tab has no valid key.'} A URL
          opens the page once, within ten minutes. <code>leads</code> prints the next one in its terminal:
          open that one.
        </p>
      ) : (
        <p>
          {sentence(message)} {hint !== undefined && sentence(hint)} This page tries again by itself.
        </p>
      )}
    </div>
  </main>
);

watchReloads();
void start();
