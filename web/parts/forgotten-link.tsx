import { useMessage } from '../messages.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { PortalLink } from './portal-link.tsx';

/** Link to the form that sends a new reset link. */
export function ForgottenLink({ className }: { className?: string | undefined }) {
  const message = useMessage();
  const { toScreen } = usePortalUrls();
  return (
    <PortalLink href={toScreen('forgotten')} className={className}>
      {message('change-failed-new-link')}
    </PortalLink>
  );
}
