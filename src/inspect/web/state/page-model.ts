import type { WireCounts, WireDelivery, WireInbox, WireReplay, WireReplayed } from '../../wire.ts';
import { deliveryTitle, durationText, sentence, withNamedCharacters } from '../text.ts';
import { type Address, addressIn, hashOf, type ListFilter, requestQuery } from './address.ts';
import type { Api } from './api.ts';
import { type Problem, problemOf } from './problem.ts';
import { DeliveryList } from './delivery-list.ts';
import { Live } from './live.ts';

/** The counts are reread at most this often, since counting reads an index of all deliveries. */
const countEveryMs = 2_000;

const typingMs = 150;

const messageMs = 6_000;

/**
 * The state of the page. Its URL is the address of what is shown: a change of the fragment, by a link, by Back or by a method here,
 * loads the list and the delivery that it names. `Live` calls for a refresh when the inbox has changed. While the `delivery` of the
 * address is loaded, the previous one stays; `problem` says why no delivery is shown. `counts` are null before they are loaded, and
 * during a search, which has none; they are reread from `#nextCountAt`, which is Infinity during a count.
 */
export class PageModel {
  readonly inbox: WireInbox;
  readonly list: DeliveryList;
  readonly live: Live;
  address: Address = addressIn(location.hash, '');
  delivery: WireDelivery | null = null;
  problem: Problem | null = null;
  counts: WireCounts | null = null;
  message: string | null = null;
  readonly #api: Api;
  readonly #draw: () => void;
  #loading = new AbortController();
  #nextCountAt = 0;
  #areCountsOld = false;
  #messageTimer: number | undefined;

  constructor(api: Api, inbox: WireInbox, draw: (model: PageModel) => void) {
    this.#api = api;
    this.inbox = inbox;
    this.#draw = () => draw(this);
    this.list = new DeliveryList({ api, mustRowsStay: () => this.#mustRowsStay(), onChange: this.#draw });
    this.live = new Live(api, (hasChanged) => this.#refresh(hasChanged), this.#draw);
  }

  async run(): Promise<void> {
    addEventListener('hashchange', () =>
      this.#followAddress(addressIn(location.hash, this.address.filter.text)),
    );
    void this.#loadDelivery();
    await this.list.show(this.address.filter);
    await this.live.run();
  }

  get loadedDelivery(): WireDelivery | null {
    return this.delivery?.seq === this.address.seq ? this.delivery : null;
  }

  filterBy(members: Partial<ListFilter>): void {
    const filter = { ...this.address.filter, ...members };
    if (filter.text !== this.address.filter.text) this.search(filter.text, 0);
    location.hash = hashOf({ ...this.address, filter });
  }

  search(text: string, delayMs = typingMs): void {
    this.address = { ...this.address, filter: { ...this.address.filter, text } };
    this.#showList(delayMs);
  }

  close(): void {
    location.hash = hashOf({ ...this.address, seq: null });
  }

  /** Replaces the entry of the history, so that Back leads to where the first delivery was opened. */
  replaceOpen(seq: number): void {
    const address = { ...this.address, seq };
    history.replaceState(null, '', hashOf(address));
    this.address = address;
    this.#showOtherDelivery();
  }

  say(message: string): void {
    this.message = message;
    clearTimeout(this.#messageTimer);
    this.#messageTimer = setTimeout(() => {
      this.message = null;
      this.#draw();
    }, messageMs);
    this.#draw();
  }

  async copy(text: string, name: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.say(`Copied ${name}.`);
    } catch {
      this.say('This browser does not allow copying: select the text.');
    }
  }

  async replay(delivery: WireDelivery, target: string): Promise<void> {
    const title = withNamedCharacters(deliveryTitle(delivery));
    this.say(`Sending ${title}…`);
    try {
      const request: WireReplay = { seq: delivery.seq, target };
      const { ok, answer, durationMs } = await this.#api.post<WireReplayed>('/api/replays', request);
      const result = `${ok ? 'taken' : 'not taken'}, ${withNamedCharacters(answer)}`;
      this.say(`Replay of ${title}: ${result} in ${durationText(durationMs)}.`);
    } catch (error) {
      const { message, hint } = problemOf(error);
      this.say(`${sentence(message)} ${hint === undefined ? '' : sentence(hint)}`);
    }
  }

  #showList(delayMs: number): void {
    this.counts = null;
    void this.list.show(this.address.filter, delayMs).then(() => this.#count());
  }

  #showOtherDelivery(): void {
    this.problem = null;
    void this.#loadDelivery();
    this.#draw();
  }

  #followAddress(address: Address): void {
    const { seq, filter } = this.address;
    const isFilterNew = hashOf({ ...address, seq: null }) !== hashOf({ filter, seq: null });
    this.address = address;
    if (isFilterNew) this.#showList(0);
    if (address.seq === seq) {
      this.#draw();
      return;
    }
    this.#showOtherDelivery();
    const focusId = address.seq === null ? `row-${seq}` : 'pane';
    (document.getElementById(focusId) ?? document.getElementById('list'))?.focus({ preventScroll: true });
  }

  /** No row moves under a pointer or a focus, where the list is scrolled, and while a delivery is open. */
  #mustRowsStay(): boolean {
    const list = document.getElementById('list');
    if (list === null) return false;
    return this.address.seq !== null || list.scrollTop > 20 || list.matches(':hover, :focus-within');
  }

  async #refresh(hasChanged: boolean): Promise<boolean> {
    this.#areCountsOld ||= hasChanged;
    if (this.#areCountsOld && Date.now() >= this.#nextCountAt) void this.#count();
    if (!hasChanged && !this.list.canShowUnseen) return true;
    const [isRead] = await Promise.all([this.list.refresh(), this.#loadDelivery()]);
    return isRead;
  }

  async #loadDelivery(): Promise<void> {
    this.#loading.abort();
    const { signal } = (this.#loading = new AbortController());
    const { seq } = this.address;
    if (seq === null) {
      this.delivery = null;
      this.problem = null;
      return;
    }
    try {
      const delivery = await this.#api.get<WireDelivery>(`/api/deliveries/${seq}`, signal);
      if (signal.aborted) return;
      this.delivery = delivery;
      this.problem = null;
    } catch (error) {
      if (signal.aborted) return;
      const problem = problemOf(error);
      // A delivery that was read stays readable while the connection is lost.
      if (problem.code === 'unreachable' && this.delivery?.seq === seq) return;
      this.delivery = null;
      this.problem = problem;
    }
    this.#draw();
  }

  async #count(): Promise<void> {
    const { filter } = this.address;
    if (filter.text.trim() !== '') return;
    this.#nextCountAt = Infinity;
    this.#areCountsOld = false;
    try {
      const query = requestQuery({ ...filter, verdicts: [] });
      const counts = await this.#api.get<WireCounts>(`/api/counts?${query}`);
      if (filter !== this.address.filter) return;
      this.counts = counts;
      this.#draw();
    } catch (error) {
      // A `Problem` needs no message here: the state of the connection shows it.
      problemOf(error);
    } finally {
      this.#nextCountAt = Date.now() + countEveryMs;
    }
  }
}
