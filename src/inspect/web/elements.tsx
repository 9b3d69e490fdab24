import type { ComponentChildren, ComponentProps, VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { WireListFilter } from '../wire.ts';
import { capitalized, countText, exactTime, shortTime, visibleParts, withNamedCharacters } from './text.ts';

export const Button = (props: ComponentProps<'button'>): VNode => <button type="button" {...props} />;

export const Icon = ({ path, kind = '' }: { path: string; kind?: string }): VNode => (
  <svg class={`icon ${kind}`} viewBox="0 0 16 16" aria-hidden="true">
    <path d={path} />
  </svg>
);

/** Hidden from screen readers, which read the key from `aria-keyshortcuts` of its button or field. */
export const Key = ({ name }: { name: string }): VNode => (
  <kbd class="key" aria-hidden="true">
    {name}
  </kbd>
);

export const Time = ({ time }: { time: number }): VNode => (
  <time dateTime={new Date(time).toISOString()} title={exactTime(time)}>
    {shortTime(time, Date.now())}
  </time>
);

/** Shapes tell the verdicts apart without colours. */
const shapes: Record<WireListFilter, string> = {
  accepted: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13M5 8.2l2.1 2.1L11 6',
  duplicate: 'M5.5 5.5h8v8h-8zM10.5 5.3V2.5h-8v8h2.8',
  waiting: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13M8 4.5V8l2.3 1.6',
  dead: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13M5 8h6',
  rejected: 'M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3zM5.8 5.8l4.4 4.4m0-4.4-4.4 4.4',
  other: 'M8 1.5 14.5 8 8 14.5 1.5 8zM5.5 8h5',
};

export const VerdictIcon = ({ verdict }: { verdict: WireListFilter }): VNode => (
  <Icon kind={`verdict-icon is-${verdict}`} path={shapes[verdict]} />
);

export const VerdictBadge = ({ verdict }: { verdict: WireListFilter }): VNode => (
  <span class={`verdict is-${verdict}`}>
    <VerdictIcon verdict={verdict} />
    {capitalized(verdict)}
  </span>
);

interface PopoverProps {
  readonly id: string;
  readonly title: string;
  readonly children: ComponentChildren;
}

/** A button with the popover's id as `popovertarget` opens it. The browser closes it, and returns the focus. */
export const Popover = ({ id, title, children }: PopoverProps): VNode => (
  <div
    id={id}
    class="popover"
    popover="auto"
    role="dialog"
    aria-label={title}
    onToggle={({ newState, currentTarget }) =>
      newState === 'open' && currentTarget.querySelector('button')?.focus()
    }
  >
    <h2>{title}</h2>
    {children}
  </div>
);

interface SectionProps {
  readonly title: string;
  readonly count?: number;
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Section({ title, count, tools, children }: SectionProps): VNode {
  const id = useId();
  return (
    <section class="section" aria-labelledby={id}>
      <div class="section-head">
        <h3 id={id}>
          {title} {count !== undefined && <span class="count">{countText(count)}</span>}
        </h3>
        {tools}
      </div>
      {children}
    </section>
  );
}

/** Text from outside could change the direction of the text around it, so it is isolated. */
export const ReceivedText = ({ text }: { text: string }): VNode => <bdi>{visibleNodes(text)}</bdi>;

/** A text with more hidden characters is drawn as one piece, since an element for each would be slow. */
const mostParts = 400;

export function visibleNodes(text: string): (string | VNode)[] {
  const parts = visibleParts(text);
  if (parts.length > mostParts) return [withNamedCharacters(text)];
  return parts.map((part, i) =>
    part.isHidden ? (
      <span key={i} class="hidden-character">
        {part.text}
      </span>
    ) : (
      part.text
    ),
  );
}
