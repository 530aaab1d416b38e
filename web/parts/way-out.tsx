import type { ReactNode } from 'react';
import type { MessageKey } from '../messages.tsx';
import { useVisit } from '../visit.ts';
import { ChangeUserLinks } from './change-user-links.tsx';
import { GoOnLink } from './go-on-link.tsx';

/** The way out of a second factor: to the sign-in form, or on for who need not have begun. */
export function WayOut({ textKey, children }: { textKey: MessageKey; children?: ReactNode }) {
  const destination = useVisit().page.secondFactor?.goesOnTo;
  if (destination !== undefined) return <GoOnLink textKey={textKey} destination={destination} />;
  return <ChangeUserLinks textKey={textKey}>{children}</ChangeUserLinks>;
}
