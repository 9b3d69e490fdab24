import type { IdSet } from '../lead/id-set.ts';
import type { RawLead } from '../lead/raw-lead.ts';
import type { PageSource } from './fetch-page.ts';
import type { Completion, ListingOptions } from './listing-types.ts';
import { failedAnswer, partialAnswer, unreadSign } from './pagers/missing-signs.ts';
import { listKeptMoving, pageMayBeCut, unproven } from './pagers/pager.ts';
import type { ListFacts, PageAnswer, PagerAnswer, Unproven } from './pagers/pager.ts';
import { isCounting, start, type Position } from './pagers/position.ts';
import { asksForPart } from './pagers/request-params.ts';
import type { Readings } from './readings.ts';

/** A list of one page is proven by that page itself in these ways. */
const provenByPage: readonly string[] = ['not-paged', 'few', 'reaches-back'];

interface ExpectedLeads {
  readonly has: (id: string) => boolean;
  /** They may come on any page; otherwise only where the list is read from its start. */
  readonly isOnAnyPage: boolean;
  readonly missing: Unproven;
}

/** Collects what speaks against the end that a pager names: failures, partial answers, totals, and leads of earlier runs that do not come. */
export class Doubts {
  readonly facts: ListFacts;
  readonly #source: PageSource;
  readonly #options: ListingOptions;
  readonly #ids: IdSet;
  readonly #readings: Readings;
  readonly #isListed: (isWanted: (lead: RawLead) => boolean) => Promise<boolean>;
  readonly #from: Position;
  readonly #isFiltered: boolean;
  readonly #metBefore: number | undefined;
  /** Leads that an earlier run had: one of them has to come where they are asked for. */
  readonly #expected: ExpectedLeads | undefined;
  #first: PageAnswer | undefined;
  #isStartRead = false;
  #sign: Unproven | undefined;
  #isOnePage = true;
  #isEmpty = true;
  #isExpectedMet = false;

  /** `isListed`: whether the service lists such a lead where it is not asked for a status or a category. */
  constructor(
    source: PageSource,
    options: ListingOptions & { readonly seen: IdSet },
    readings: Readings,
    isListed: (isWanted: (lead: RawLead) => boolean) => Promise<boolean>,
  ) {
    const { query, from = start, expectedIds = [], seen: ids, interruptedRun } = options;
    const { params } = source;
    this.#source = source;
    this.#options = options;
    this.#ids = ids;
    this.#readings = readings;
    this.#isListed = isListed;
    this.#from = from;
    this.#isFiltered = query.status !== undefined || query.categories?.length === 1;
    const isCounted = interruptedRun !== undefined && interruptedRun.isPart !== true;
    this.#metBefore = isCounted ? Math.min(interruptedRun.size, ids.size) : undefined;
    const isAsked =
      from.style === 'start' || options.goesBackToStart === true || from.lacksRunBefore === true;
    const [oldest] = isAsked ? expectedIds : [];
    if (oldest !== undefined) this.#expected = runBefore(expectedIds);
    else if (interruptedRun !== undefined && interruptedRun.size > 0)
      this.#expected = interrupted(interruptedRun, (id) => this.#isMet(id));
    this.facts = {
      overlaps: options.readsOnce !== true,
      isMet: (record) => readings.isMet(record),
      isFiltered: this.#isFiltered,
      isKnownList: options.isKnownList === true || from.style !== 'start' || ids.size > 0 || params.nextSeen,
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
    if (this.#expected === undefined || this.#isExpectedMet) return;
    if (!this.#isStartRead && !this.#expected.isOnAnyPage) return;
    this.#isExpectedMet = leads.some((lead) => this.#isExpected(lead));
  }

  #isExpected({ id }: Pick<RawLead, 'id'>): boolean {
    return id !== undefined && this.#expected?.has(id) === true;
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
      const advice = `if it does: ${service.front.set('api.pagination', 'auto')}`;
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
    return (isPart ? undefined : this.#readings.contraryTotal()) ?? end;
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
    return unreadSign({ params, facts, met: isCounted ? this.#met : undefined, isNextMissing });
  }

  /** Different leads, with those before the place where an interruptedRun walk continues; undefined where these are not known. */
  get #met(): number | undefined {
    if (this.#isStartRead) return this.#first?.facts.count;
    return this.#metBefore === undefined ? undefined : this.#metBefore + this.#readings.added;
  }

  async #missing(): Promise<Unproven | undefined> {
    if (this.#expected === undefined || this.#isExpectedMet) return undefined;
    if (!this.#isStartRead && !this.#expected.isOnAnyPage) return undefined;
    const isListed = this.#isFiltered && (await this.#isListed((lead) => this.#isExpected(lead)));
    return isListed ? undefined : this.#expected.missing;
  }

  /** The position where a resumed run may continue; undefined where the pages up to here have to be read once more. */
  storable(position: Position, withoutId: number): Position | undefined {
    if (this.#sign !== undefined) return undefined;
    const mayGoBack = this.#options.goesBackToStart === true && withoutId === 0;
    const lacksRunBefore = !mayGoBack && this.#expected?.isOnAnyPage === true && !this.#isExpectedMet;
    return lacksRunBefore ? { ...position, lacksRunBefore } : position;
  }
}

function runBefore(overlap: readonly string[]): ExpectedLeads {
  const ids = new Set(overlap);
  const message =
    ids.size === 1
      ? 'the newest lead of the run before did not come again'
      : `none of the ${ids.size} newest leads of the run before came again`;
  const hint = 'leads between both runs may be out of reach, unless those were deleted';
  return { has: (id) => ids.has(id), isOnAnyPage: true, missing: unproven(message, hint) };
}

/** Leads of an interrupted run, which stand before the place where it stopped, and may be gone from there. */
function interrupted(
  { size, has }: NonNullable<ListingOptions['interruptedRun']>,
  isMet: (id: string) => boolean,
): ExpectedLeads {
  const leads = size === 1 ? 'the lead' : `none of the ${size} leads`;
  const verb = size === 1 ? 'did not come' : 'came';
  const message = `the list is another one or empty: ${leads} that came before the interruption ${verb} again`;
  const missing = unproven(message, 'leads may be missing, unless those were deleted');
  return { has: (id) => !isMet(id) && has(id), isOnAnyPage: false, missing };
}
