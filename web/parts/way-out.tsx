import type { ReactNode } from 'react';
import type { MessageKey } from '../messages.tsx';
import { useVisit } from '../visit.ts';
import { ChangeUserLinks } from './change-user-links.tsx';
import { GoOnLink } from './go-on-link.tsx';

/** Leaves a second factor: to the sign-in form, or to the destination if the factor is optional. */
export function WayOut({ textKey, children }: { textKey: MessageKey; children?: ReactNode }) {
  const destination = useVisit().page.secondFactor?.goesOnTo;
  if (destination !== undefined) return <GoOnLink textKey={textKey} destination={destination} />;
  return <ChangeUserLinks textKey={textKey}>{children}</ChangeUserLinks>;
}
