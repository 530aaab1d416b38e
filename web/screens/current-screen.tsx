import type { ComponentType } from 'react';
import { isLater } from '../load-later-screen.ts';
import { useVisit } from '../visit.ts';
import { Leaving } from './leaving.tsx';
import { Login } from './login.tsx';

/** The screen of the current place. `LaterScreen` is set if the place needs it. */
export function CurrentScreen({ LaterScreen }: { LaterScreen: ComponentType | null }) {
  const { page, place } = useVisit();
  if (isLater(place, page)) return LaterScreen && <LaterScreen />;
  return page.serverPage?.name === 'leaving' ? <Leaving {...page.serverPage} /> : <Login />;
}
