import type { Probe } from './probe.ts';
import { answerProbes } from './probes/answers.ts';
import { bodyProbes } from './probes/body.ts';
import { credentialProbes } from './probes/credential.ts';
import { deliveryProbes, repeatProbes } from './probes/delivery.ts';
import { protocolProbes } from './probes/protocol.ts';

/** Every probe, in the order in which they are shown: group by group. */
export const probes: readonly Probe[] = [
  ...deliveryProbes,
  ...credentialProbes,
  ...repeatProbes,
  ...bodyProbes,
  ...protocolProbes,
  ...answerProbes,
];
