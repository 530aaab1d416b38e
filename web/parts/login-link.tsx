import { useMessage } from '../messages.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { PortalLink } from './portal-link.tsx';

export function LoginLink({ className }: { className?: string | undefined }) {
  const message = useMessage();
  const { toScreen } = usePortalUrls();
  return (
    <PortalLink href={toScreen('login')} className={className}>
      {message('return-to-login')}
    </PortalLink>
  );
}
