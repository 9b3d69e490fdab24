import type { ComponentChildren, ComponentProps, VNode } from 'preact';
import { exactTime, shortTime } from './text/format.ts';

/** One that sends no form. */
export const Button = (props: ComponentProps<'button'>): VNode => <button type="button" {...props} />;

/** Beside its word, so it says nothing itself. */
export const Icon = ({ of = '', children }: { of?: string; children: ComponentChildren }): VNode => (
  <svg class={`icon${of}`} viewBox="0 0 16 16" aria-hidden="true">
    {children}
  </svg>
);

/** The key that does what it stands beside; said by `aria-keyshortcuts` to those who do not see it. */
export const Key = ({ name }: { name: string }): VNode => (
  <kbd class="key" aria-hidden="true">
    {name}
  </kbd>
);

export const Time = ({ at, now = Date.now() }: { at: number; now?: number }): VNode => (
  <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
    {shortTime(at, now)}
  </time>
);

interface RangeSelectProps {
  readonly label: string;
  readonly ranges: readonly { readonly name: string }[];
  /** An index of `ranges`, or the value of one of the further options. */
  readonly value: string;
  readonly onChoose: (value: string) => void;
  readonly children?: ComponentChildren;
}

/** Ranges of time to choose from, and further options. */
export const RangeSelect = ({ label, ranges, value, onChoose, children }: RangeSelectProps): VNode => (
  <select aria-label={label} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
    {ranges.map(({ name }, i) => (
      <option key={name} value={String(i)}>
        {name}
      </option>
    ))}
    {children}
  </select>
);
