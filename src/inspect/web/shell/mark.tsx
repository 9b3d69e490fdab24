import type { VNode } from 'preact';

/** The program's sign. */
export function Mark(): VNode {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M7 17.5 10.2 8.8A1.3 1.3 0 0 1 11.4 8h9.2a1.3 1.3 0 0 1 1.2.8L25 17.5V23a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 7 23zm0 0h5.2l1.4 2.7h4.8l1.4-2.7H25" />
    </svg>
  );
}
