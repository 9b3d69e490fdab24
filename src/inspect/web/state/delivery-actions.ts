import type { WireCurl, WireDelivery } from '../../wire.ts';
import { problemOf } from '../api-client/problem.ts';
import { sentence } from '../text/format.ts';
import type { PageModel } from './page-model.ts';
import { go, route } from './route.ts';

/** Wide enough for the list and the pane; the same as in the style sheet. */
export const besideEachOther = matchMedia('(min-width: 900px)');

export const focusOn = (id: string): void =>
  void requestAnimationFrame(() => document.getElementById(id)?.focus({ preventScroll: true }));

export function openDelivery(model: PageModel, seq: number): void {
  model.selected.value = seq;
  go({ view: 'delivery', seq });
  focusOn('pane');
}

/** To another row; where both have room, or a delivery is open, it is opened too. */
export function step(model: PageModel, by: number): void {
  const row = model.neighbour(by);
  if (row === null) return;
  model.selected.value = row.seq;
  focusOn('list');
  if (besideEachOther.matches || route.value.view === 'delivery') go({ view: 'delivery', seq: row.seq });
}

/** Back to where this was opened from. */
export function closePane(): void {
  go({ view: 'list' });
  focusOn('list');
}

/** The delivery that is open, or selected, and null where there is none; what fails is shown. */
async function current(model: PageModel): Promise<WireDelivery | null> {
  const seq = route.value.view === 'delivery' ? route.value.seq : model.selected.value;
  if (seq === null) return null;
  if (model.shown.value?.seq === seq) return model.shown.value;
  return model.api.get<WireDelivery>(`/api/deliveries/${seq}`);
}

async function withCurrent(
  model: PageModel,
  act: (delivery: WireDelivery) => void | Promise<void>,
): Promise<void> {
  try {
    const delivery = await current(model);
    if (delivery === null) model.announcer.show('No delivery is selected.');
    else await act(delivery);
  } catch (error) {
    model.announcer.show(sentence(problemOf(error).message));
  }
}

export const openReplay = (model: PageModel): Promise<void> =>
  withCurrent(model, (delivery) => void (model.dialog.value = { name: 'replay', delivery }));

/** Where the browser does not let the page write to the clipboard, the command is shown, to be copied by hand. */
export const copyCurl = (model: PageModel): Promise<void> =>
  withCurrent(model, async ({ seq }) => {
    const curl = await model.api.get<WireCurl>(`/api/deliveries/${seq}/curl`);
    if (!(await isCopied(curl.command))) model.dialog.value = { name: 'curl', ...curl };
    else model.announcer.show(`Copied as a curl command.${curl.isHttpsAssumed ? ` ${httpsAssumed}` : ''}`);
  });

export const httpsAssumed = 'It has https: nothing says whether the delivery came with http.';

export async function copyText(model: PageModel, text: string): Promise<void> {
  model.announcer.show((await isCopied(text)) ? 'Copied.' : 'This browser does not allow copying.');
}

async function isCopied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // There is no clipboard, or no permission.
    return false;
  }
}

/** A link cannot send the token: the body is fetched, and the link is to what was fetched. */
export const downloadBody = (model: PageModel): Promise<void> =>
  withCurrent(model, async ({ seq }) =>
    save(await model.api.blob(`/api/deliveries/${seq}/body`), `delivery-${seq}.txt`),
  );

function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
