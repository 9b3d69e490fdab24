import type { ComponentChildren, VNode } from 'preact';
import { useId } from 'preact/hooks';
import { shownCount } from '../text/shown-size.ts';

interface SectionProps {
  readonly title: string;
  readonly count?: number;
  /** On the line of the title. */
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Section({ title, count, tools, children }: SectionProps): VNode {
  const id = useId();
  return (
    <section class="section" aria-labelledby={id}>
      <div class="section-head">
        <h3 id={id}>
          {title} {count !== undefined && <span class="count">{shownCount(count)}</span>}
        </h3>
        {tools}
      </div>
      {children}
    </section>
  );
}
