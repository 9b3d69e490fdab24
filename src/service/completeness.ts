import type { IdSet } from '../lead/id-set.ts';
import type { RawLead } from '../lead/raw-lead.ts';
import type { PageSource } from './fetch-page.ts';
import type { Completion, ListingOptions } from './listing-types.ts';
import { failedAnswer, partialAnswer, unreadSign } from './pagers/missing-signs.ts';
import { listKeptMoving, pageMayBeCut, unproven } from './pagers/pager.ts';
import type { ListFacts, PageAnswer, PagerAnswer, Unproven } from './pagers/pager.ts';
import { isCounting, type Position } from './pagers/position.ts';
import { asksForPart } from './pagers/request-params.ts';
import type { Readings } from './readings.ts';

/** Evidence that one page gives by itself. */
const provenByPage: readonly string[] = ['not-paged', 'few', 'reaches-back'];

type WalkOptions = ListingOptions & { readonly from: Position; readonly seen: IdSet };

/** Leads of an earlier run, one of which has to come: on any page, or else only where the list is read from its start. */
interface ExpectedLeads {
  readonly has: (id: string) => boolean;
  readonly isOnAnyPage: boolean;
  readonly missing: Unproven;
}

/**
 * Collects what speaks against the end that a pager names. The walk shows it the leads of each page (`meet`), then the answer
 * (`record`), and at last the end (`reviewEnd`), which is replaced by the reason where leads may be missing.
 * - `#failure`: a failure or a partial answer that some page told
 * - `#expected`: leads that an earlier run had, and that are asked for again
 * - `#metBefore`: how many leads interrupted runs have met; undefined where that is not known
 * - `#isOnePage`: no answer but the first has brought fresh leads; `#isEmpty`: none has brought any
 */
export class Completeness {
  readonly facts: ListFacts;
  readonly #source: PageSource;
  readonly #options: WalkOptions;
  readonly #readings: Readings;
  readonly #isListed: (isWanted: (lead: RawLead) => boolean) => Promise<boolean>;
  readonly #metBefore: number | undefined;
  readonly #expected: ExpectedLeads | undefined;
  #first: PageAnswer | undefined;
  #isStartRead = false;
  #failure: Unproven | undefined;
  #isOnePage = true;
  #isEmpty = true;
  #isExpectedMet = false;

  /** `isListed`: asks the service whether it lists such a lead where it is not asked for a status or a category. */
  constructor(
    source: PageSource,
    options: WalkOptions,
    readings: Readings,
    isListed: (isWanted: (lead: RawLead) => boolean) => Promise<boolean>,
  ) {
    const { query, from, expectedIds = [], seen: ids, interruptedRun } = options;
    this.#source = source;
    this.#options = options;
    this.#readings = readings;
    this.#isListed = isListed;
    const isCounted = interruptedRun !== undefined && interruptedRun.isPart !== true;
    this.#metBefore = isCounted ? Math.min(interruptedRun.size, ids.size) : undefined;
    const mayStillCome =
      from.style === 'start' || options.goesBackToStart === true || from.lacksRunBefore === true;
    const [oldest] = mayStillCome ? expectedIds : [];
    if (oldest !== undefined) this.#expected = leadsOfRunBefore(expectedIds);
    else if (interruptedRun !== undefined && interruptedRun.size > 0)
      this.#expected = leadsOfInterruptedRun(interruptedRun, (id) => this.#isMet(id));
    this.facts = {
      overlaps: options.readsOnce !== true,
      isMet: (record) => readings.isMet(record),
      isFiltered: query.status !== undefined || query.categories?.length === 1,
      isKnownList:
        options.isKnownList === true || from.style !== 'start' || ids.size > 0 || source.params.nextSeen,
      since: query.since,
      hasOldestBefore: () => oldest !== undefined && this.#isMet(oldest),
    };
  }

  #isMet(id: string): boolean {
    return this.#options.seen.isMetSince(id, this.#readings.firstPass);
  }

  record(answer: PageAnswer): void {
    const { facts, fresh } = answer;
    this.#first ??= answer;
    if (facts.count > 0) this.#isEmpty = false;
    if (fresh > 0 && answer !== this.#first) this.#isOnePage = false;
    this.#failure ??= failedAnswer(facts, this.#first.facts) ?? partialAnswer(facts);
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

  async reviewEnd(end: Completion, answer: PagerAnswer): Promise<Completion> {
    // A page that may be cut is a mere guess: a sign in the answers says more.
    const isCut = end.kind === 'unproven' && end.reason.kind === pageMayBeCut;
    if (end.kind === 'unproven' && !isCut) return end;
    if (this.#failure !== undefined) return this.#failure;
    const isLone = end.kind === 'complete' && provenByPage.includes(end.evidence);
    if (isLone && this.#readings.isShortOfOthers) return listKeptMoving;
    const unread = this.#unreadSign(end, answer);
    const isAffirmed = end.kind === 'complete' && end.evidence === 'affirmed';
    if (unread !== undefined && !isAffirmed) return unread;
    if (unread !== undefined) this.#noteAgainstSetting(unread);
    if (end.kind === 'unproven') return end;
    const { from } = this.#options;
    const isOpaque = from.style !== 'start' && !isCounting(from);
    // Some services answer a cursor that they do not know any more with an empty page.
    if (this.#options.goesBackToStart === true && isOpaque && !this.#isStartRead && this.#isEmpty)
      return unproven('nothing came where an earlier run had stopped');
    const missing = await this.#missingLeads();
    if (missing !== undefined) return missing;
    const isPart = this.facts.isFiltered || asksForPart(this.#source.params);
    return (isPart ? undefined : this.#readings.contraryTotal()) ?? end;
  }

  #noteAgainstSetting({ reason }: Unproven): void {
    const { messages, front } = this.#source.service;
    const advice = `if it does: ${front.set('api.pagination', 'auto')}`;
    messages.note('silent', `${reason.message}, and api.pagination is none; ${advice}`, true);
  }

  /**
   * A sign of more leads that the walk could not read. It is looked for where no statement of the service ends the list, but only its
   * silence or a person's setting.
   */
  #unreadSign(end: Completion, answer: PagerAnswer): Unproven | undefined {
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
    // A walk that asks for the leads since a time is often one page, while the total may still count all leads.
    const isTotalOfAll = isNextMissing && query.since !== undefined && params.since !== undefined;
    const isCounted = !this.facts.isFiltered && !isTotalOfAll && !params.isTotalEstimate;
    const { facts } = this.#isStartRead ? this.#first : answer;
    return unreadSign({ params, facts, met: isCounted ? this.#met : undefined, isNextMissing });
  }

  /** Different leads, with those before the place where a resumed walk continues; undefined where these were not counted. */
  get #met(): number | undefined {
    if (this.#isStartRead) return this.#first?.facts.count;
    return this.#metBefore === undefined ? undefined : this.#metBefore + this.#readings.added;
  }

  async #missingLeads(): Promise<Unproven | undefined> {
    if (this.#expected === undefined || this.#isExpectedMet) return undefined;
    if (!this.#isStartRead && !this.#expected.isOnAnyPage) return undefined;
    const isListed = this.facts.isFiltered && (await this.#isListed((lead) => this.#isExpected(lead)));
    return isListed ? undefined : this.#expected.missing;
  }

  /** The position to store for a run that may resume; undefined where the pages up to here have to be read once more. */
  storable(position: Position, withoutId: number): Position | undefined {
    if (this.#failure !== undefined) return undefined;
    const mayGoBack = this.#options.goesBackToStart === true && withoutId === 0;
    const lacksRunBefore = !mayGoBack && this.#expected?.isOnAnyPage === true && !this.#isExpectedMet;
    return lacksRunBefore ? { ...position, lacksRunBefore } : position;
  }
}

function leadsOfRunBefore(overlap: readonly string[]): ExpectedLeads {
  const ids = new Set(overlap);
  const message =
    ids.size === 1
      ? 'the newest lead of the run before did not come again'
      : `none of the ${ids.size} newest leads of the run before came again`;
  const hint = 'leads between both runs may be out of reach, unless those were deleted';
  return { has: (id) => ids.has(id), isOnAnyPage: true, missing: unproven(message, hint) };
}

/** These are before the place where the run stopped. `has` may be the set of ids that this walk fills: what it has met itself does not count. */
function leadsOfInterruptedRun(
  { size, has }: NonNullable<ListingOptions['interruptedRun']>,
  isMet: (id: string) => boolean,
): ExpectedLeads {
  const leads = size === 1 ? 'the lead' : `none of the ${size} leads`;
  const verb = size === 1 ? 'did not come' : 'came';
  const message = `the list is another one or empty: ${leads} that came before the interruption ${verb} again`;
  const missing = unproven(message, 'leads may be missing, unless those were deleted');
  return { has: (id) => !isMet(id) && has(id), isOnAnyPage: false, missing };
}
