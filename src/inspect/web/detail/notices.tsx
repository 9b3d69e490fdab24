import type { VNode } from 'preact';
import type { WireDelivery } from '../../wire.ts';
import { go } from '../state/route.ts';
import { shown } from '../text/received-text.tsx';
import { sentence } from '../text/sentence.ts';

/** What is not ordinary about a delivery: why it was rejected first. */
export function Notices({ delivery }: { delivery: WireDelivery }): VNode {
  const { verdict, explanation, differs, missing, hasInvalidText, firstSeq, seq } = delivery;
  return (
    <>
      {verdict === 'rejected' && <Rejection delivery={delivery} />}
      {verdict === 'pending' && (
        <div class="notice is-pending">
          <h3>Stored, but not handed on yet</h3>
          <p>A target that was asked for has not taken it.</p>
        </div>
      )}
      {explanation === null && differs !== null && differs.length > 0 && (
        <div class="notice">
          <h3>Differs from this lead’s first delivery</h3>
          <ul class="field-names">
            {differs.map((field) => (
              <li key={field}>
                <code>{shown(field)}</code>
              </li>
            ))}
          </ul>
        </div>
      )}
      {firstSeq !== null && firstSeq !== seq && (
        <p class="notice">
          One of several leads in one request, which began with{' '}
          <button type="button" class="link" onClick={() => go({ view: 'delivery', seq: firstSeq })}>
            delivery {firstSeq}
          </button>
          .
        </p>
      )}
      {missing !== null && <p class="notice">{sentence(missing)}</p>}
      {hasInvalidText && (
        <p class="notice">
          Bytes of the body that are not UTF-8 are shown as �. The download has them as they came.
        </p>
      )}
    </>
  );
}

function Rejection({ delivery: { reason, explanation, status } }: { delivery: WireDelivery }): VNode {
  return (
    <div class="notice is-rejected">
      <h3>
        Rejected: {reason ?? 'no reason was kept'} <span class="notice-status">answered {status}</span>
      </h3>
      {explanation?.map((text, i) => (
        <p key={i}>{shown(text)}</p>
      ))}
    </div>
  );
}
