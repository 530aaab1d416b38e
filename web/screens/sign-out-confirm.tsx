import { queryNames } from '#contract/screens.ts';
import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { PortalForm } from '../parts/portal-form.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';
import { parameterOf } from '../query.ts';
import { useVisit } from '../visit.ts';

/** Asks for confirmation when another site's link leads to sign-out (decisions §6). */
export function SignOutConfirm() {
  const message = useMessage();
  const forget = parameterOf(useVisit().place.search, queryNames.forget) ?? undefined;
  return (
    <>
      <Heading />
      <p className="lede">{message('sign-out-text')}</p>
      <PortalForm call="logoutConfirmed" query={{ [queryNames.forget]: forget }}>
        <SubmitButton>{message('sign-out-button')}</SubmitButton>
        <p className="links">
          <LoginLink />
        </p>
      </PortalForm>
    </>
  );
}
