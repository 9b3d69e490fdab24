import type { Audit } from '../../audit/audit.ts';
import type { Messages } from '../../output/messages.ts';
import { counted } from '../../output/terminal/progress.ts';
import type { OpenedReceived } from './opened-received.ts';

/** Says what the counts of a whole audit alone would hide. */
export function noteCounts(
  { listed, counts }: Pick<Audit, 'listed' | 'counts'>,
  { name }: Pick<OpenedReceived, 'name'>,
  messages: Pick<Messages, 'note' | 'warn'>,
): void {
  const { pulled, received, withoutId, notCompared, notJudged, horizon } = counts;
  if (listed === 0) {
    messages.warn('the service lists no lead: whether one is missing, or too many, cannot be told');
  } else if (pulled === 0 && withoutId === 0) {
    messages.note('none-pulled', 'no lead of the service matches');
  } else if (pulled > 0 && received === 0) {
    messages.note('none-received', `${name} has none of these leads`);
  }
  if (listed > 0 && horizon === undefined) {
    messages.note(
      'no-horizon',
      "no lead of the list says in 'createdAt' when it was created: whether others were received that it no longer shows cannot be told",
    );
  }
  if (withoutId > 0) {
    const records = counted(withoutId, 'record of the service has', 'records of the service have');
    const help = pulled === 0 ? ': leads config set api.id FIELD names another field' : '';
    messages.warn(
      `${records} no usable id, so nothing can be said about ${withoutId === 1 ? 'it' : 'them'}${help}`,
    );
  }
  if (notCompared > 0) {
    const leads = counted(notCompared, 'lead has', 'leads have');
    messages.warn(
      `${leads} other bytes than what was received, and could not be compared: the received body was pruned`,
    );
  }
  if (notJudged > 0) {
    const leads = counted(notJudged, 'received lead is', 'received leads are');
    messages.warn(
      `${leads} not in the list, and may be extra: whether the filters ask for ${notJudged === 1 ? 'it' : 'them'} cannot be told, since the received body was pruned`,
    );
  }
}
