import type { GivenAnswer } from '../kernel/network.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import { Violation } from './invariants.ts';
import type { Run } from './operator.ts';
import { isAsSent, type Truth } from './truth.ts';

/** What `leads send` waits before each retry. */
export const sendWaits = '1s,5s,30s,2m,5m';
const mostAttempts = sendWaits.split(',').length + 1;

interface AttemptLine {
  readonly type: 'attempt';
  readonly id: string;
  readonly attempt: number;
  readonly status: number | null;
  readonly answer: string;
  readonly retryInMs?: number;
}

interface SummaryLine {
  readonly type: 'summary';
  readonly deliveries: number;
  readonly attempts: number;
  readonly acknowledged: number;
  readonly failed: number;
}

/** What receivers answered for one lead, and what the sender said of it. */
interface Course {
  readonly statuses: number[];
  /** Of the last answer that said when to come again: when it was given, and how long to wait, in milliseconds. */
  asked?: { readonly at: number; readonly ms: number };
  said?: AttemptLine;
  /** No request comes before. */
  notBefore: number;
}

/** Compares what the product's own sender does and says with what receivers were sent and have answered. */
export class Sends {
  readonly #truth: Truth;
  readonly #scheduler: Scheduler;
  readonly #onAttempt: (line: AttemptLine) => void;
  readonly #courses = new WeakMap<Run, Map<string, Course>>();

  constructor(truth: Truth, scheduler: Scheduler, onAttempt: (line: AttemptLine) => void) {
    this.#truth = truth;
    this.#scheduler = scheduler;
    this.#onAttempt = onAttempt;
  }

  /** A receiver has answered one of these runs. */
  answered({ client, body, askedAt, status, retryAfter }: GivenAnswer, runs: Iterable<Run>): void {
    const run = [...runs].find(({ process, sends }) => process === client && sends.size > 0);
    // What it asks the service for has no body.
    if (run === undefined || body === '') return;
    const [, id = ''] = /^\{"id":"([^"]+)"/.exec(body) ?? [];
    const isRight =
      run.sends.has(id) &&
      (this.#truth.erased.has(id) || body === (run.sends.get(id) ?? body)) &&
      (this.#truth.erased.has(id) || isAsSent(this.#truth, id, body));
    if (!isRight) throw new Violation('sends-what-it-was-told', `${run.argv.join(' ')} has sent ${body}`);
    const course = this.#courseOf(run, id);
    if (askedAt < course.notBefore)
      throw new Violation('waits-as-told', `${id} came again before its Retry-After`);
    course.statuses.push(status);
    if (retryAfter !== undefined) course.asked = { at: this.#scheduler.now, ms: Number(retryAfter) * 1000 };
  }

  /** A run has printed lines. */
  printed(run: Run, text: string): void {
    if (run.sends.size === 0) return;
    for (const line of linesIn(text)) if (line.type === 'attempt') this.#attempted(run, line);
  }

  #attempted(run: Run, line: AttemptLine): void {
    this.#onAttempt(line);
    const { id, attempt, status, answer, retryInMs } = line;
    const course = this.#courseOf(run, id);
    const { said, statuses, asked } = course;
    course.said = line;
    const isNext =
      attempt === (said?.attempt ?? 0) + 1 && (said === undefined || said.retryInMs !== undefined);
    if (!isNext) throw new Violation(saysWhatWas, `${id}: an attempt ${attempt} that was not announced`);
    if (status === 200) {
      if (!statuses.includes(200) || !answer.includes(`"${id}"`))
        throw new Violation(saysWhatWas, `no receiver has answered 200 for ${id}`);
      if (!this.#truth.acknowledged.has(id)) this.#truth.acknowledged.set(id, this.#scheduler.now);
      return;
    }
    if (retryInMs === undefined && attempt < mostAttempts)
      throw new Violation('tries-as-told', `${id} is given up after its attempt ${attempt}`);
    if (status === null || asked === undefined || statuses.at(-1) !== status) return;
    course.notBefore = asked.at + asked.ms;
  }

  /** What a run says at its end: each lead was tried as often as it should be, and counts as what became of it. */
  ended(run: Run, code: number): void {
    if (run.sends.size === 0) return;
    const summary = linesIn(run.process.stdout).find((line) => line.type === 'summary');
    if (code !== 0 && code !== 7 && summary === undefined) return;
    const said = [...(this.#courses.get(run)?.values() ?? [])].flatMap((course) => course.said ?? []);
    const acknowledged = said.filter(({ status }) => status === 200).length;
    const cut = said.filter(({ status, retryInMs }) => status !== 200 && retryInMs !== undefined);
    // A lead that is in neither place: then nothing is sent.
    const isUntried = run.action === 'resend' && said.length === 0 && code !== 0;
    const isTrue =
      summary !== undefined &&
      summary.deliveries === said.length &&
      summary.attempts === sum(said.map(({ attempt }) => attempt)) &&
      summary.acknowledged === acknowledged &&
      summary.failed === said.length - acknowledged &&
      (code !== 0 || acknowledged === run.sends.size) &&
      (code !== 7 || isUntried || (said.length === run.sends.size && summary.failed > 0)) &&
      cut.length === 0;
    if (!isTrue)
      throw new Violation(
        saysWhatWas,
        `exit ${code} with ${JSON.stringify(summary)}: ${acknowledged} of ${run.sends.size} were acknowledged, ${said.length} tried, ${cut.length} not as often as announced`,
      );
  }

  #courseOf(run: Run, id: string): Course {
    const courses = this.#courses.get(run) ?? new Map<string, Course>();
    this.#courses.set(run, courses);
    const course = courses.get(id) ?? { statuses: [], notBefore: 0 };
    courses.set(id, course);
    return course;
  }
}

const saysWhatWas = 'sender-says-what-was';

const linesIn = (text: string): readonly (AttemptLine | SummaryLine)[] =>
  text
    .split('\n')
    .flatMap((line) => (line.startsWith('{"type":') ? [JSON.parse(line) as AttemptLine | SummaryLine] : []));

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
