import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Dialog } from '../shell/dialog.tsx';

/** Where the clipboard is closed to the page. */
export function CurlDialog({ command }: { command: string }): VNode {
  const text = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    text.current?.focus();
    text.current?.select();
  }, []);
  return (
    <Dialog title="Copy as curl">
      <p>This browser does not let the page write to the clipboard. The command is selected: copy it.</p>
      <textarea ref={text} class="text-area" rows={10} readOnly aria-label="Command" value={command} />
    </Dialog>
  );
}
