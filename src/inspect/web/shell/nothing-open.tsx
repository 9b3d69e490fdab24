import type { VNode } from 'preact';
import { shortcuts } from '../keys/shortcuts.ts';
import { ShortcutList } from '../keys/shortcut-list.tsx';

export function NothingOpen(): VNode {
  return (
    <div class="nothing-open">
      <h2>No delivery is open</h2>
      <p>Choose one in the list to see its body, its headers and what became of it.</p>
      <ShortcutList shortcuts={shortcuts.slice(0, 4)} />
    </div>
  );
}
