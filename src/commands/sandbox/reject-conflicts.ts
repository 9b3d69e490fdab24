import { UsageError } from '../../errors.ts';
import type { Options } from './options.ts';

/** Throws a `UsageError` for flags that contradict each other, or that would make a list no client can follow. */
export function rejectConflicts(options: Options): void {
  rejectUnreachablePages(options);
  rejectWithoutWebhook(options);
  rejectSeededAndFromFile(options);
}

const paginationsOfNext = { cursor: ['cursor'], id: ['cursor'], number: ['page', 'offset'] } as const;

function rejectUnreachablePages({ envelope, pagination = 'cursor', next }: Options): void {
  const nextInBody = next === undefined ? pagination === 'cursor' : next !== 'none';
  if (envelope === 'none' && nextInBody) {
    throw new UsageError('with --envelope none the body is an array, without a field for the next page', {
      hint: 'use --pagination link, page, offset or none with it',
    });
  }
  if (next !== 'cursor' && next !== 'id' && next !== 'number') return;
  const fitting: readonly string[] = paginationsOfNext[next];
  if (!fitting.includes(pagination)) {
    throw new UsageError(`--next ${next} goes with --pagination ${fitting.join(' or ')}`);
  }
}

function rejectWithoutWebhook({ webhook, deliveryFaults, retry, paused }: Options): void {
  const needWebhook = {
    '--delivery-faults': deliveryFaults,
    '--retry': retry,
    '--paused': paused || undefined,
  };
  const [flag] = Object.entries(needWebhook).find(([, value]) => value !== undefined) ?? [];
  if (webhook.length === 0 && flag !== undefined) throw new UsageError(`${flag} needs --webhook URL`);
}

function rejectSeededAndFromFile({ from, leads, newest }: Options): void {
  const flag = leads !== undefined ? '--leads' : newest !== undefined ? '--newest' : undefined;
  if (from === undefined || flag === undefined) return;
  throw new UsageError(`--from and ${flag} do not go together`, {
    hint: `${flag} is for seeded leads; those of a file are served as they are`,
  });
}
