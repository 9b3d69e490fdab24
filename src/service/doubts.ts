import type { IdSet } from '../lead/id-set.ts';
import type { RawLead } from '../lead/raw-lead.ts';
import type { PageSource } from './fetch-page.ts';
import type { Completion, ListingOptions } from './listing-types.ts';
import { failedAnswer, partialAnswer, unreadEvidence } from './pagers/evidence.ts';
import { listKeptMoving, pageMayBeCut, unproven } from './pagers/pager.ts';
import type { ListFacts, PageAnswer, PagerAnswer, Unproven } from './pagers/pager.ts';
import { isCounting, start, type Position } from './pagers/position.ts';
import { asksForPart } from './pagers/request-params.ts';
import type { Readings } from './readings.ts';

/** A list of one page is proven by that page itself in these ways. */
const provenByPage: readonly string[] = ['not-paged', 'few', 'reaches-back'];

export class Doubts {
  readonly facts: ListFacts;
  readonly #source: PageSource;
  readonly #options: ListingOptions;
  readonly #ids: IdSet;
  readonly #readings: Readings;
  readonly #isListed: (isWanted: (lead: RawLead) => boolean) => Promise<boolean>;
  readonly #from: Position;
  readonly #overlap: readonly string[];
  readonly #isFiltered: boolean;
  /** The number of leads that interrupted runs of this walk have met. */
  readonly #interruptedSize: number;
  readonly #metBefore: number | undefined;
  #first: PageAnswer | undefined;
  #isStartRead = false;
  #sign: Unproven | undefined;
  #isOnePage = true;
  #isEmpty = true;
  #isRunBeforeMet = false;
  #isInterruptedMet = false;

  /** `isListed`: whether the service lists such a lead where it is not asked for a status or a category. */
  constructor(
    source: PageSource,
    options: ListingOptions & { readonly seen: IdSet },
    readings: Readings,
    isListed: (isWanted: (lead: RawLead) => boolean) => Promise<boolean>,
  ) {
    const { query, from = start, before, seen: ids, interruptedRun } = options;
    const { params } = source;
    this.#source = source;
    this.#options = options;
    this.#ids = ids;
    this.#readings = readings;
    this.#isListed = isListed;
    this.#from = from;
    this.#isFiltered = query.status !== undefined || query.categories?.length === 1;
    this.#interruptedSize = interruptedRun?.size ?? 0;
    const isCounted = interruptedRun !== undefined && interruptedRun.isPart !== true;
    this.#metBefore = isCounted ? Math.min(interruptedRun.size, ids.size) : undefined;
    const isAsked =
      from.style === 'start' || options.goesBackToStart === true || from.lacksRunBefore === true;
    this.#overlap = isAsked ? (before?.overlap ?? []) : [];
    const [oldest] = this.#overlap;
    this.facts = {
      overlaps: options.readsOnce !== true,
      isMet: (record) => readings.isMet(record),
      isFiltered: this.#isFiltered,
      isKnownList:
        options.isKnownList === true ||
        from.style !== 'start' ||
        ids.size > 0 ||
        params.nextSeen ||
        params.provenUpTo > 0,
      provenUpTo: Math.max(params.provenUpTo, before?.provenUpTo ?? 0),
      since: query.since,
      hasOldestBefore: () => oldest !== undefined && this.#isMet(oldest),
    };
  }

  #isMet(id: string): boolean {
    return this.#ids.isMetSince(id, this.#readings.firstPass);
  }

  note(answer: PageAnswer): void {
    const { facts, fresh } = answer;
    this.#first ??= answer;
    if (facts.count > 0) this.#isEmpty = false;
    if (fresh > 0 && answer !== this.#first) this.#isOnePage = false;
    this.#sign ??= failedAnswer(facts, this.#first.facts) ?? partialAnswer(facts);
  }

  meet(leads: readonly RawLead[], isStart: boolean): void {
    this.#isStartRead ||= isStart;
    if (this.#interruptedSize === 0 || !this.#isStartRead || this.#isInterruptedMet) return;
    this.#isInterruptedMet = leads.some((lead) => this.#isOfInterrupted(lead));
  }

  #isOfInterrupted({ id }: Pick<RawLead, 'id'>): boolean {
    return id !== undefined && !this.#isMet(id) && this.#options.interruptedRun?.has(id) === true;
  }

  async against(end: Completion, answer: PagerAnswer): Promise<Completion> {
    const isCut = end.kind === 'unproven' && end.reason.kind === pageMayBeCut;
    if (end.kind === 'unproven' && !isCut) return end;
    if (this.#sign !== undefined) return this.#sign;
    const isLone = end.kind === 'complete' && provenByPage.includes(end.evidence);
    if (isLone && this.#readings.isShortOfOthers) return listKeptMoving;
    const unread = this.#unread(end, answer);
    if (unread !== undefined) {
      if (end.kind !== 'complete' || end.evidence !== 'affirmed') return unread;
      const { service } = this.#source;
      const advice = `if it does: ${service.front.quoted(service.front.set('api.pagination', 'auto'))}`;
      const note = `${unread.reason.message}, and api.pagination is none; ${advice}`;
      service.messages.note('silent', note, true);
    }
    if (end.kind === 'unproven') return end;
    const isOpaque = this.#from.style !== 'start' && !isCounting(this.#from);
    // Some services answer a cursor that they do not know any more with an empty page.
    if (this.#options.goesBackToStart === true && isOpaque && !this.#isStartRead && this.#isEmpty)
      return unproven('nothing came where an earlier run had stopped');
    const missing = await this.#missing();
    if (missing !== undefined) return missing;
    const isPart = this.#isFiltered || asksForPart(this.#source.params);
    return (isPart ? undefined : this.#readings.contraryTotal(true)) ?? end;
  }

  /** Only silence, or the setting of a person, ends a list of one page: what its answer says beside its leads counts. */
  #unread(end: Completion, answer: PagerAnswer): Unproven | undefined {
    if (answer.kind !== 'answer' || this.#first === undefined) return undefined;
    const isNextMissing = end.kind === 'complete' && end.isNextMissing === true;
    const isProbed = answer.request.isProbe === true && this.#isOnePage;
    const isSilent =
      end.kind === 'unproven' ||
      isNextMissing ||
      [...provenByPage, 'empty', 'affirmed'].includes(end.evidence) ||
      (end.evidence === 'nothing-behind' && isProbed);
    if (!isSilent) return undefined;
    const { params, query } = this.#source;
    // A number of all leads says nothing of those since a time, which are one page each day.
    const isOfAll = isNextMissing && query.since !== undefined && params.since !== undefined;
    const isCounted = !this.#isFiltered && !isOfAll && !params.isTotalEstimate;
    const { facts } = this.#isStartRead ? this.#first : answer;
    return unreadEvidence({ params, facts, met: isCounted ? this.#met : undefined, isNextMissing });
  }

  /** Different leads, with those before the place where an interruptedRun walk continues; undefined where these are not known. */
  get #met(): number | undefined {
    if (this.#isStartRead) return this.#first?.facts.count;
    return this.#metBefore === undefined ? undefined : this.#metBefore + this.#readings.added;
  }

  /** Leads that were there earlier, and that are asked for again: one of them has to come. */
  async #missing(): Promise<Unproven | undefined> {
    const overlap = this.#overlap;
    if (overlap.length > 0 && !this.#meetsRunBefore()) {
      const ids = new Set<string | undefined>(overlap);
      const isListed = this.#isFiltered && (await this.#isListed(({ id }) => ids.has(id)));
      if (!isListed)
        return unproven(
          overlap.length === 1
            ? 'the newest lead of the run before did not come again'
            : `none of the ${overlap.length} newest leads of the run before came again`,
          'leads between both runs may be out of reach, unless those were deleted',
        );
    }
    // The leads of an interrupted run stand before the place where it stopped, and may be gone from a list that is the same one.
    const leads = this.#isStartRead && overlap.length === 0 ? this.#interruptedSize : 0;
    if (leads === 0 || this.#isInterruptedMet) return undefined;
    const isListed = this.#isFiltered && (await this.#isListed((lead) => this.#isOfInterrupted(lead)));
    if (isListed) return undefined;
    const missing = leads === 1 ? 'the lead' : `none of the ${leads} leads`;
    const verb = leads === 1 ? 'did not come' : 'came';
    return unproven(
      `the list is another one or empty: ${missing} that came before the interruption ${verb} again`,
      'leads may be missing, unless those were deleted',
    );
  }

  #meetsRunBefore(): boolean {
    return (this.#isRunBeforeMet ||= this.#overlap.some((id) => this.#isMet(id)));
  }

  /** The position where a resumed run may continue; undefined where the pages up to here have to be read once more. */
  storable(position: Position, withoutId: number): Position | undefined {
    if (this.#sign !== undefined) return undefined;
    const mayGoBack = this.#options.goesBackToStart === true && withoutId === 0;
    const lacksRunBefore = !mayGoBack && this.#overlap.length > 0 && !this.#meetsRunBefore();
    return lacksRunBefore ? { ...position, lacksRunBefore } : position;
  }
}
