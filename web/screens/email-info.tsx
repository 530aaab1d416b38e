import { useMessage } from '../messages.tsx';
import { Alert } from '../parts/alert.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { PortalLink } from '../parts/portal-link.tsx';
import { Seal } from '../parts/seal.tsx';
import { SupportLink } from '../parts/support-link.tsx';
import { usePortalUrls } from '../portal-urls.ts';

export function EmailInfo() {
  const message = useMessage();
  const { toScreen } = usePortalUrls();
  return (
    <>
      <Seal icon="mail" />
      <Heading />
      <p className="lede">{message('email-info-text')}</p>
      <div className="stack">
        <Alert title={message('email-info-wait-title')}>{message('email-info-wait-text')}</Alert>
        <LoginLink className="button quiet" />
        <p className="links">
          <PortalLink href={toScreen('forgotten')}>{message('email-info-again')}</PortalLink>
          <SupportLink />
        </p>
      </div>
    </>
  );
}
