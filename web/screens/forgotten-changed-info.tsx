import { queryNames } from '#contract/screens.ts';
import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { Seal } from '../parts/seal.tsx';
import { parameterOf } from '../query.ts';
import { useVisit } from '../visit.ts';

export function ForgottenChangedInfo() {
  const message = useMessage();
  const isKept = parameterOf(useVisit().place.search, queryNames.destination);
  return (
    <>
      <Seal icon="check" kind="good" />
      <Heading />
      <p className="lede">{message(isKept ? 'changed-onwards' : 'changed-text')}</p>
      <div className="stack">
        <LoginLink className="button" />
      </div>
    </>
  );
}
