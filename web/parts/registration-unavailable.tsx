import { useMessage } from '../messages.tsx';
import { isPlainClick } from '../plain-click.ts';
import { useVisit } from '../visit.ts';
import { Alert } from './alert.tsx';
import { Heading } from './heading.tsx';
import { WayOut } from './way-out.tsx';

// Announced without a user action: the screen was to show a code.
const urgent = {};

export function RegistrationUnavailable() {
  const message = useMessage();
  const { place, leave, reload } = useVisit();
  return (
    <>
      <Heading />
      <Alert kind="bad" title={message('registration-unavailable-title')} answerTo={urgent}>
        {message('twofa-qr-code-unavailable')}
      </Alert>
      <div className="stack">
        <a
          className="button"
          href={place.address}
          onClick={(event) => {
            if (!isPlainClick(event)) return;
            event.preventDefault();
            if (leave('please-wait')) reload();
          }}
        >
          {message('reload')}
        </a>
        <WayOut textKey="cancel" />
      </div>
    </>
  );
}
