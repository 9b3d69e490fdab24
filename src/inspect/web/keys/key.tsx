import type { VNode } from 'preact';

/** The key that does what it stands beside; said by `aria-keyshortcuts` to those who do not see it. */
export function Key({ name }: { name: string }): VNode {
  return (
    <kbd class="key" aria-hidden="true">
      {name}
    </kbd>
  );
}
