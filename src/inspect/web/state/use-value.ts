import { useLayoutEffect, useState } from 'preact/hooks';
import type { Observable } from './observable.ts';

/** The value, and a new rendering whenever it changes. */
export function useValue<Value>(observable: Observable<Value>): Value {
  const [, render] = useState(observable.value);
  useLayoutEffect(() => {
    // It may have changed between rendering and this.
    render(() => observable.value);
    return observable.subscribe((value) => render(() => value));
  }, [observable]);
  return observable.value;
}
