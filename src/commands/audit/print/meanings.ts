import type { FindingClass } from '../../../audit/audit-finding.ts';

/** Each class in a few words. */
export const meanings: Readonly<Record<FindingClass, string>> = {
  refused: 'came and was rejected',
  missing: 'pulled, never received',
  extra: 'received, cannot be pulled',
  different: 'not the same in some fields',
  pending: 'received, not yet forwarded',
  late: 'received late',
  unsettled: 'too young to be counted',
  'beyond-horizon': 'received, older than what the service lists',
};
