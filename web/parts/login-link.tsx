import type { ReactNode } from 'react';
import { useMessage } from '../messages.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { PortalLink } from './portal-link.tsx';

type Props = {
  className?: string | undefined;
  /** In place of the usual text, for somebody signed in, whom the form leads on. */
  children?: ReactNode;
};

export function LoginLink({ className, children }: Props) {
  const message = useMessage();
  const { toScreen } = usePortalUrls();
  return (
    <PortalLink href={toScreen('login')} className={className}>
      {children ?? message('return-to-login')}
    </PortalLink>
  );
}
