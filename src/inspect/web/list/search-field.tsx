import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { focusOn } from '../state/delivery-actions.ts';
import { useValue } from '../state/use-value.ts';
import { useModel } from '../state/page-model.ts';
import { Key } from '../keys/key.tsx';

/** A search begins when nothing was typed for this long; ms. */
const pauseMs = 120;

export function SearchField(): VNode {
  const model = useModel();
  const search = useValue(model.search.state);
  const [text, setText] = useState('');
  const timer = useRef<number | undefined>(undefined);
  const find = (query: string): void => {
    clearTimeout(timer.current);
    const wanted = query.trim();
    const { value: current } = model.search.state;
    // What was found, or is being found, stays.
    const isThere = current?.text === wanted && (current.status === 'done' || current.status === 'running');
    if (!isThere) model.find(wanted);
  };
  // It was ended elsewhere.
  useEffect(() => {
    if (search === null) setText('');
  }, [search === null]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') {
      find(text);
      focusOn('list');
    } else if (event.key === 'Escape' && search?.status === 'running') model.search.cancel();
    else if (event.key === 'Escape' && text !== '') {
      setText('');
      find('');
    } else if (event.key === 'Escape') focusOn('list');
    else return;
    event.preventDefault();
  };
  return (
    <div class="search-field">
      <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
        <path d="M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9m3.3 7.8 3.2 3.2" />
      </svg>
      <input
        id="search"
        type="search"
        autocomplete="off"
        spellcheck={false}
        aria-label="Search id, name, e-mail, phone and body"
        aria-keyshortcuts="/"
        placeholder="Search"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => find(currentTarget.value), pauseMs);
        }}
        onKeyDown={onKeyDown}
      />
      {text === '' && <Key name="/" />}
    </div>
  );
}
