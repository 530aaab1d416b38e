import type { ReactNode } from 'react';
import type { Chain, DeskViewOf } from '#contract/desk.ts';
import type { AccountKey } from '../account/account-context.tsx';
import { AccountForm } from '../account/account-form.tsx';
import { TextAt, Time } from '../account/times.tsx';
import { Icon, shapes } from '../components/icon.tsx';
import { useDesk } from './desk-context.tsx';
import { EventWords } from './events.tsx';
import { Seen } from './form.tsx';

const ring = 'M2.75 10a7.25 7.25 0 1 0 14.5 0 7.25 7.25 0 1 0-14.5 0Z';
const marks = { passed: `${ring}m4.05.3 2.2 2.2 4.2-4.8`, open: ring, waits: `${ring}M10 6v4l2.6 1.6` };

function Step({ mark, children }: { mark: keyof typeof marks; children: ReactNode }) {
  return (
    <li className={mark === 'waits' ? 'warn' : undefined}>
      <Icon shape={marks[mark]} size={18} />
      <span className={mark === 'open' ? 'soft' : undefined}>{children}</span>
    </li>
  );
}

/** Why a sign-in failed, what helps, and what came before; `children`: what the act that helps will do. */
export function Verdict({ event, passed, unreached, failure, act, children }: Chain & { children: ReactNode }) {
  const { text } = useDesk();
  const isRefused = failure !== null || event.event.endsWith('-refused');
  const [before, after] = text(isRefused ? 'desk-why' : 'desk-recorded').split('{reference}');
  const steps = unreached.map((step) => text(`desk-part-${step}` as AccountKey)).join(', ');
  return (
    <section className="panel" aria-labelledby="why">
      <header>
        <h2 id="why">
          {before}
          <code>{event.reference}</code>
          {after}
        </h2>
        <span className="soft">
          <Time at={event.at} />
          {[event.address, event.browser].map((fact) => fact && `, ${fact}`)}
        </span>
      </header>
      <p className={isRefused ? 'verdict bad' : undefined}>
        {isRefused && <Icon shape={shapes.alert} size={22} />}
        {failure === null ? <EventWords {...event} /> : <span>{text(`desk-why-${failure}` as AccountKey)}</span>}
      </p>
      {failure !== null && <p>{text(`desk-means-${failure}` as AccountKey)}</p>}
      {act && (
        <AccountForm action={act} className="row" button={`desk-act-${act}`}>
          <Seen />
          <div className="soft">{children}</div>
        </AccountForm>
      )}
      {passed.length + unreached.length > 0 && (
        <div>
          <h3>{text('desk-before')}</h3>
          <ol className="chain">
            {passed.map((step) => (
              <Step key={step.step} mark="passed">
                <StepWords {...step} />
              </Step>
            ))}
            {steps && <Step mark="open">{text('desk-unreached', { steps })}</Step>}
          </ol>
        </div>
      )}
    </section>
  );
}

/** The recorded steps of a sign-in by password as sentences. */
const sentences: [RegExp, AccountKey][] = [
  [/^account: found: (?<name>.+)$/, 'desk-step-account'],
  [/^browser: signed in before as this user$/, 'desk-step-browser-known'],
  [/^browser: not known$/, 'desk-step-browser-new'],
  [/^throttle: may continue$/, 'desk-step-throttle'],
  [/^password: right$/, 'desk-step-password'],
  [/^active: yes$/, 'desk-step-active'],
  [/^customers: (?<customers>.+)$/, 'desk-step-customers'],
  [/^networks of (?<customer>.+): admit (?<address>.+)$/, 'desk-step-networks'],
  [/^networks of (?<customer>.+): do not admit (?<address>.+)$/, 'desk-step-networks-not'],
];

function StepWords({ step, outcome }: Chain['passed'][number]) {
  const { text } = useDesk();
  const recorded = `${step}: ${outcome}`;
  const [pattern, key] = sentences.find(([pattern]) => pattern.test(recorded)) ?? [];
  return key ? text(key, pattern?.exec(recorded)?.groups) : <span lang="en">{recorded}</span>;
}

/** What the door would ask now: nothing of it has happened. */
export function Door({ door, name }: { door: DeskViewOf<'person'>['door']; name: string }) {
  const { text } = useDesk();
  return (
    <section className="panel" aria-labelledby="now">
      <h2 id="now">{text('desk-door', { name })}</h2>
      <ol className="chain">
        {door.map(({ step, values, at }) => (
          <Step key={step} mark={step === 'wait' ? 'waits' : 'open'}>
            {at ? <TextAt text="desk-door-wait" at={at} /> : text(`desk-door-${step}` as AccountKey, values)}
          </Step>
        ))}
      </ol>
    </section>
  );
}
