import type { DeskViewOf } from '#contract/desk.ts';
import { useDesk } from './desk-context.tsx';

/** Whom or what to look for, and what was found. */
export function Search(_view: DeskViewOf<'search'>) {
  const { text } = useDesk();
  return <h1>{text('desk-title')}</h1>;
}
