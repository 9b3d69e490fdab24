import { plural } from '../text/shown-size.ts';
import { Observable } from './observable.ts';

/** Arrivals are added up, so that a screen reader is not kept busy by them; ms. */
const arrivalsEveryMs = 5_000;

/** How long a message stays; ms. */
const shownMs = 4_000;

/** What is said in the live region, and shown for a moment where it answers something that was done. */
export class Announcer {
  readonly spoken = new Observable('');
  readonly message = new Observable<string | null>(null);
  #arrived = 0;
  #hide: number | undefined;

  say(text: string): void {
    this.spoken.value = text;
  }

  show(text: string): void {
    this.say(text);
    this.message.value = text;
    clearTimeout(this.#hide);
    this.#hide = setTimeout(() => (this.message.value = null), shownMs);
  }

  arrived(count: number): void {
    this.#arrived += count;
    if (this.#arrived > count) return;
    setTimeout(() => {
      this.say(plural(this.#arrived, 'new delivery', 'new deliveries'));
      this.#arrived = 0;
    }, arrivalsEveryMs);
  }
}
