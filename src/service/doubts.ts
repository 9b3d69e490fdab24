import type { IdSet } from '../lead/id-set.ts';
import type { RawLead } from '../lead/raw-lead.ts';
import type { PageSource } from './fetch-page.ts';
import type { Completion, ListingOptions } from './listing-types.ts';
import { failedAnswer, partialAnswer, unreadEvidence } from './pagers/evidence.ts';
import { unproven, type Answer, type PageAnswer, type ListFacts } from './pagers/pager.ts';
import { isCounting, start, type Position } from './pagers/position.ts';
import { asksForPart } from './pagers/request-params.ts';
import type { PartialReason, UnprovenReason } from './problems.ts';
import type { Readings } from './readings.ts';

/** A list of one page is proven by that page itself in these ways. */
const provenByPage: readonly string[] = ['not-paged', 'few', 'reaches-back'];

/** What speaks against an end, whatever proves it. */
export class Doubts {
  /** What pagers know beside the answers. */
  readonly facts: ListFacts;
  readonly #source: PageSource;
  readonly #options: ListingOptions;
  readonly #readings: Readings;
  readonly #isListed: (isOne: (lead: RawLead) => boolean) => Promise<boolean>;
  readonly #seen: IdSet | undefined;
  readonly #from: Position;
  readonly #overlap: readonly string[];
  readonly #attemptSize: number;
  readonly #metBefore: number | undefined;
  #first: PageAnswer | undefined;
  #isStartRead = false;
  #partial: PartialReason | undefined;
  #failed: UnprovenReason | undefined;
  #isOnePage = true;
  #longest = 0;
  #isRunBeforeMet = false;
  #isAttemptMet = false;

  constructor(
    source: PageSource,
    options: ListingOptions,
    readings: Readings,
    isListed: (isOne: (lead: RawLead) => boolean) => Promise<boolean>,
  ) {
    const { query, from = start, before, seen } = options;
    const { params } = source;
    this.#source = source;
    this.#options = options;
    this.#readings = readings;
    this.#isListed = isListed;
    this.#seen = seen;
    this.#from = from;
    const { attempt } = options;
    this.#attemptSize = attempt?.size ?? 0;
    const isCounted = attempt !== undefined && attempt.isPart !== true;
    this.#metBefore = isCounted ? Math.min(attempt.size, seen?.size ?? 0) : undefined;
    this.#partial = from.partial;
    // Another walk may have met them in the pages before.
    const isAsked =
      from.style === 'start' || options.goesBackToFront === true || from.lacksRunBefore === true;
    this.#overlap = isAsked ? (before?.overlap ?? []) : [];
    const [oldest] = this.#overlap;
    this.facts = {
      overlaps: options.readsOnce !== true,
      isMet: (record) => readings.isMet(record),
      isFiltered: this.#isFiltered,
      isKnownList:
        options.isKnownList === true ||
        from.style !== 'start' ||
        (seen?.size ?? 0) > 0 ||
        params.nextSeen ||
        params.provenUpTo > 0,
      provenUpTo: Math.max(params.provenUpTo, before?.provenUpTo ?? 0),
      since: query.since,
      hasOldestBefore: () => oldest !== undefined && this.#isMet(oldest),
    };
  }

  get #isFiltered(): boolean {
    const { status, categories } = this.#options.query;
    return status !== undefined || categories?.length === 1;
  }

  #isMet(id: string): boolean {
    return this.#seen?.isMetSince(id, this.#readings.firstPass) === true;
  }

  /** An answer, and what else it says of the list. */
  note(answer: PageAnswer): void {
    this.#longest = Math.max(this.#longest, answer.facts.count);
    this.#first ??= answer;
    // Probes bring nothing but what is known.
    if (answer.fresh > 0 && answer !== this.#first) this.#isOnePage = false;
    const page = { params: this.#source.params, facts: answer.facts, met: undefined };
    this.#partial ??= partialAnswer(page);
    this.#failed ??= failedAnswer(answer.facts, this.#first.facts);
  }

  /** Leads that this walk had not met before. */
  meet(leads: readonly RawLead[], isStart: boolean): void {
    this.#isStartRead ||= isStart;
    if (this.#attemptSize === 0 || !this.#isStartRead || this.#isAttemptMet) return;
    this.#isAttemptMet = leads.some((lead) => this.#isOfAttempt(lead));
  }

  #isOfAttempt({ id }: Pick<RawLead, 'id'>): boolean {
    return id !== undefined && !this.#isMet(id) && this.#options.attempt?.has(id) === true;
  }

  /** The same end, or why it proves nothing. */
  async against(end: Completion, answer: Answer): Promise<Completion> {
    const isCut = end.kind === 'unproven' && end.reason.kind === 'page-may-be-cut';
    if (end.kind === 'unproven' && !isCut) return end;
    const known = this.#failed ?? this.#partial;
    if (known !== undefined) return unproven(known);
    const isLone = end.kind === 'complete' && provenByPage.includes(end.evidence);
    if (isLone && this.#readings.isShortOfOthers) return unproven({ kind: 'list-kept-moving' });
    const unread = this.#unread(end, answer);
    if (unread !== undefined) {
      if (end.kind !== 'complete' || end.evidence !== 'affirmed') return unproven(unread);
      const note = (await this.#source.service.texts()).noteOf({ kind: 'unread-beside-setting', of: unread });
      this.#source.service.messages.note('silent', note, true);
    }
    if (end.kind === 'unproven') return end;
    const isOpaque = this.#from.style !== 'start' && !isCounting(this.#from);
    // Some services answer a cursor that they do not know any more with an empty page.
    if (this.#options.goesBackToFront === true && isOpaque && !this.#isStartRead && this.#longest === 0)
      return unproven({ kind: 'nothing-behind-stop' });
    const missing = await this.#missing();
    if (missing !== undefined) return unproven(missing);
    const isPart = this.#isFiltered || asksForPart(this.#source.params);
    return (isPart ? undefined : this.#readings.contraryTotal(true)) ?? end;
  }

  /** Only silence, or the setting of a person, ends a list of one page: what its answer says beside its leads counts. */
  #unread(end: Completion, answer: Answer): UnprovenReason | undefined {
    if (answer.kind !== 'answer' || this.#first === undefined) return undefined;
    const isSilent =
      end.kind === 'unproven' ||
      end.isNextMissing === true ||
      [...provenByPage, 'empty', 'affirmed'].includes(end.evidence) ||
      (end.evidence === 'nothing-behind' && answer.request.isProbe === true && this.#isOnePage);
    if (!isSilent) return undefined;
    const { params, query } = this.#source;
    const isNextMissing = end.kind === 'complete' && end.isNextMissing === true;
    // What counts all leads says nothing of those since a time, which are one page each day.
    const isOfAll = isNextMissing && query.since !== undefined && params.since !== undefined;
    const isCounted = !this.#isFiltered && !isOfAll && !params.isTotalEstimate;
    const { facts } = this.#isStartRead ? this.#first : answer;
    return unreadEvidence({ params, facts, met: isCounted ? this.#met : undefined, isNextMissing });
  }

  /** Different leads, with those in front of where an interrupted walk goes on; undefined where these are not known. */
  get #met(): number | undefined {
    if (this.#isStartRead) return this.#first?.facts.count;
    return this.#metBefore === undefined ? undefined : this.#metBefore + this.#readings.added;
  }

  /** Leads that were there earlier, and that are asked for again: one of them has to come. */
  async #missing(): Promise<UnprovenReason | undefined> {
    const overlap = this.#overlap;
    if (overlap.length > 0 && !this.#meetsRunBefore()) {
      const ids = new Set<string | undefined>(overlap);
      const isThere = this.#isFiltered && (await this.#isListed(({ id }) => ids.has(id)));
      if (!isThere) return { kind: 'run-before-not-met', overlap: overlap.length };
    }
    // What an attempt met stands in front of where it stopped, and may be gone from a list that is the same one.
    const leads = this.#isStartRead && overlap.length === 0 ? this.#attemptSize : 0;
    if (leads === 0 || this.#isAttemptMet) return undefined;
    const isThere = this.#isFiltered && (await this.#isListed((lead) => this.#isOfAttempt(lead)));
    return isThere ? undefined : { kind: 'attempt-not-met', leads };
  }

  #meetsRunBefore(): boolean {
    return (this.#isRunBeforeMet ||= this.#overlap.some((id) => this.#isMet(id)));
  }

  /** What speaks against the pages up to here, for a walk that goes on and does not read them again. */
  storedWith(position: Position, withoutId: number): Position {
    const mayGoBack = this.#options.goesBackToFront === true && withoutId === 0;
    if (mayGoBack) return this.#partial === undefined ? position : start;
    const lacksRunBefore = this.#overlap.length > 0 && !this.#meetsRunBefore();
    return {
      ...position,
      ...(this.#partial !== undefined && { partial: this.#partial }),
      ...(lacksRunBefore && { lacksRunBefore }),
    };
  }
}
