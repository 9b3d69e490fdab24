import { expectAccepted } from '../judge-answer.ts';
import { type Probe, skipped } from '../check-probe.ts';
import { needsOracle, oracleHint, storedCount } from '../stored-leads.ts';

export const storedDelivery: Probe = {
  name: 'delivery.stored',
  rule: '4.2 rule 2',
  level: 'must',
  expected: 'a lead that was acknowledged is stored',
  hint: 'answer 200 only after the lead is stored: the service does not deliver it again',
  needsAcknowledgement: true,
  inapplicable: ({ oracle }) => (oracle === undefined ? 'it needs --oracle' : undefined),
  async run(session) {
    const lead = session.newLead();
    const exchange = await session.send(session.deliveryOf(lead));
    const accepted = expectAccepted(exchange);
    if (accepted.result !== 'pass') return { ...accepted, result: 'warn' };
    const count = await storedCount(session, lead.id);
    if (count === undefined) return skipped(needsOracle);
    if (typeof count === 'string') return { result: 'fail', seen: count, exchange, hint: oracleHint };
    return {
      result: count > 0 ? 'pass' : 'fail',
      seen: count > 0 ? 'it is stored' : 'it was acknowledged and is not stored',
      exchange,
    };
  },
};
