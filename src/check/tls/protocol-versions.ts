import type { Finding, Probe } from '../check-probe.ts';
import type { CheckSession } from '../session.ts';
import { shakeHands } from '../wire/tls-handshake.ts';
import { tlsProbe } from './tls-common.ts';

export const currentTls: Probe = {
  ...tlsProbe,
  name: 'tls.version',
  expected: 'TLS 1.2 or 1.3',
  hint: 'offer TLS 1.3, and 1.2 for older senders',
  async run(session) {
    const hands = await shakeHands(session.endpoint, {}, session.wire);
    if (!hands.ok) return { result: 'fail', seen: `the handshake failed (${hands.code})` };
    const isCurrent = hands.protocol === 'TLSv1.3' || hands.protocol === 'TLSv1.2';
    return { result: isCurrent ? 'pass' : 'fail', seen: `it speaks ${hands.protocol ?? 'nothing known'}` };
  },
};

export const oldTls: Probe = {
  ...tlsProbe,
  name: 'tls.old-versions',
  expected: 'TLS 1.0 and 1.1 are refused',
  hint: 'turn TLS 1.0 and 1.1 off (RFC 8996)',
  async run(session): Promise<Finding> {
    for (const version of ['TLSv1', 'TLSv1.1'] as const) {
      if (await speaks(session, version)) return { result: 'fail', seen: `it speaks ${version}` };
    }
    return { result: 'pass', seen: 'it speaks neither' };
  },
};

/** OpenSSL's default security level disables these versions on our side. */
async function speaks(session: CheckSession, version: 'TLSv1' | 'TLSv1.1'): Promise<boolean> {
  const offer = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
  return (await shakeHands(session.endpoint, offer, session.wire)).ok;
}
