import { expectRefused } from '../judge-answer.ts';
import { type Finding, type Probe } from '../check-probe.ts';
import type { CheckSession, Exchange } from '../session.ts';

/** Beyond the stack of recursive parsers; small enough for the usual limits of size. */
const depth = 20_000;

const deepBody = (): Buffer => Buffer.from(`{"id":${'['.repeat(depth)}${']'.repeat(depth)}}`);

const shellBody = `printf '{"id":%s%s}' ${brackets('[')} ${brackets(']')}`;

function brackets(bracket: string): string {
  return `"$(head -c ${depth} /dev/zero | tr '\\0' '${bracket}')"`;
}

/** One request serves both probes. */
const sent = new WeakMap<CheckSession['exchanges'], Exchange>();

const common = {
  rule: '4.2 rule 2',
  stage: 'alone',
  needsAcknowledgement: true,
} as const;

/** That the receiver lives afterwards is found out behind every probe that is run alone. */
export const deepBodySurvived: Probe = {
  ...common,
  name: 'body.deep',
  level: 'must',
  expected: `alive after JSON that nests ${depth} deep`,
  hint: 'bound the depth of JSON, or catch the error of its parser: one request must not stop the receiver',
  async run(session): Promise<Finding> {
    const exchange = await sendDeep(session);
    sent.set(session.exchanges, exchange);
    return { result: 'pass', seen: 'it is alive', exchange };
  },
};

export const deepBodyAnswer: Probe = {
  ...common,
  name: 'body.deep-answer',
  level: 'should',
  expected: `4xx to JSON that nests ${depth} deep`,
  hint: 'bound the depth of JSON, and answer 400',
  async run(session) {
    const exchange = sent.get(session.exchanges) ?? (await sendDeep(session));
    return expectRefused(exchange);
  },
};

const sendDeep = (session: CheckSession): Promise<Exchange> =>
  session.send({ ...session.deliveryOfBody(deepBody()), shellBody });
