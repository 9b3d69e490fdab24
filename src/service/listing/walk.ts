import type { Service } from '../client/service.ts';
import { positionKey, type Position } from '../pagination/position.ts';
import { answerError } from '../problems.ts';
import type { Completion } from './incomplete-error.ts';
import { decideNextStep, type Step } from './decide-next-or-complete.ts';
import type { Probes } from './probes.ts';
import {
  afterStepBack,
  type Answer,
  askedFor,
  inNextPass,
  type Movement,
  type WalkState,
  withAnswer,
  withProbes,
} from './walk-state.ts';
import { totalsFrom } from './passes.ts';

/** How the pages of a walk are read, and what is handed out of them. */
export interface PageReader<Part> {
  /** Hands out what comes before the page is whole. */
  read(position: Position, seen: WalkState): AsyncGenerator<Part, Answer | ReadAgain, undefined>;
  /** Requests so far, but for those that were tried again. */
  readonly requests: number;
  /** What moved in the list, up to this answer. */
  movementAt(answer: Answer): Movement | undefined;
  /** The position that is asked for in place of the one that was decided on. */
  placeOf(position: Position, seen: WalkState): Position;
  /** The list is read from its front once more. */
  beginPass(pass: 'again' | 'front'): void;
  /** The rest of the newest page, and what is known of the page behind it. */
  handOut(end: PageEnd): readonly Part[];
}

/** The position is to be read anew, or first another one further in front, where leads that were counted come again. */
export type ReadAgain =
  | { readonly kind: 'again'; readonly isStepBack: false }
  | { readonly kind: 'again'; readonly isStepBack: true; readonly position: Position };

export interface PageEnd {
  /** Undefined behind probes: nothing is left of the page. */
  readonly answer: Answer | undefined;
  readonly totals: WalkState['totals'];
  readonly next: Position | undefined;
  readonly isLast: boolean;
  readonly partial: WalkState['partial'];
}

const front: Position = { style: 'start' };

/** The one loop of every walk: asks for the page that `decideNextStep` names, and shows it the answer, until it names an end. */
export async function* walk<Part>(
  reader: PageReader<Part>,
  probes: Probes,
  before: WalkState,
  { clock, messages, texts }: Pick<Service, 'clock' | 'messages' | 'texts'>,
): AsyncGenerator<Part, Completion, undefined> {
  const guard = new LoopGuard();
  let seen = before;
  const say = async ({ note }: Step): Promise<void> => {
    if (note !== undefined) messages.note('silent', (await texts()).noteOf(note), true);
  };
  const follow = (step: Step): Position | undefined => {
    if (step.kind === 'page' && step.position === seen.position) guard.reset();
    if (step.kind === 'page')
      return step.position === seen.position ? step.position : reader.placeOf(step.position, seen);
    if (step.kind !== 'reread') return undefined;
    reader.beginPass(step.pass);
    guard.reset();
    seen = inNextPass(seen, totalsFrom());
    return front;
  };
  for (;;) {
    guard.enter(positionKey(seen.position));
    const answer = yield* reader.read(seen.position, seen);
    if (answer.kind === 'again') {
      seen = answer.isStepBack ? afterStepBack(seen, answer.position) : seen;
      guard.reset();
      continue;
    }
    const first = answer.kind === 'page' && answer.isFirst ? answer : undefined;
    if (first !== undefined) probes.noteFirst(first);
    const second = first === undefined ? undefined : probes.secondBehind(first.facts);
    const { requests } = reader;
    const movement = reader.movementAt(answer);
    try {
      seen = withAnswer(seen, answer, { movement, second, now: clock.now(), requests });
    } catch (error) {
      // Its leads are known from here on: a caller that polls on with the same ids would never get them.
      const { totals, partial } = seen;
      yield* reader.handOut({ answer, totals, next: undefined, isLast: false, partial });
      throw error;
    }
    let step = decideNextStep(seen);
    if (step.kind === 'page' && step.position === second) probes.goOnAt(second);
    const { totals, partial } = seen;
    await say(step);
    let next = follow(step);
    yield* reader.handOut({ answer, totals, next, isLast: step.kind === 'end', partial });
    while (step.kind === 'probe') {
      const found = await probes.run(step.reason);
      seen = withProbes(seen, step.reason, found);
      if (found.kind === 'next') guard.reset();
      step = decideNextStep(seen);
      await say(step);
      next = follow(step);
      if (step.kind === 'end')
        yield* reader.handOut({ answer: undefined, totals, next, isLast: true, partial });
    }
    if (step.kind === 'end') return step.completion;
    if (next !== undefined) seen = askedFor(seen, next);
  }
}

/** Fails a walk that is sent to a position for the second time. */
class LoopGuard {
  readonly #positions = new Set<string>();

  /** Throws when the service names a position that was walked before. */
  enter(key: string): void {
    if (this.#positions.has(key)) {
      throw answerError({ kind: 'position-read-before' });
    }
    this.#positions.add(key);
  }

  /** Forgets the positions: the list is walked again. */
  reset(): void {
    this.#positions.clear();
  }
}
