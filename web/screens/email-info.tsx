import { useMessage } from '../messages.tsx';
import { Alert } from '../parts/alert.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { Seal } from '../parts/seal.tsx';
import { SupportLink } from '../parts/support-link.tsx';

export function EmailInfo() {
  const message = useMessage();
  return (
    <>
      <Seal icon="mail" />
      <Heading />
      <p className="lede">{message('email-info-text')}</p>
      <div className="stack">
        <Alert title={message('email-info-wait-title')}>{message('email-info-wait-text')}</Alert>
        <LoginLink className="button quiet" />
        <p className="links">
          <SupportLink />
        </p>
      </div>
    </>
  );
}
