import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { Seal } from '../parts/seal.tsx';

export function ForgottenChangedInfo() {
  const message = useMessage();
  return (
    <>
      <Seal icon="check" kind="good" />
      <Heading />
      <p className="lede">{message('changed-text')}</p>
      <div className="stack">
        <LoginLink className="button" />
      </div>
    </>
  );
}
