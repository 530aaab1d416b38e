import type { ReactNode } from 'react';
import { customerPath, type DeskAct, type DeskViewOf } from '#contract/desk.ts';
import { languageNames, languages } from '#contract/languages.ts';
import type { AccountKey } from '../account/account-context.tsx';
import { Panel, Row } from '../account/account-form.tsx';
import { initialsOf } from '../account/account-screen.tsx';
import { TextAt, Time } from '../account/times.tsx';
import { Act, Entry } from './act-form.tsx';
import { Door, Verdict } from './chain.tsx';
import { useDesk } from './desk-context.tsx';
import { EventTable } from './events.tsx';
import { StateMark } from './people.tsx';

type View = DeskViewOf<'person'>;

/** A person: why a sign-in failed and what the door would ask now; beside it what can be done, and how they sign in. */
export function Person(view: View) {
  const { text, toDesk } = useDesk();
  const hint = useHint(view);
  const { email, customers, chain, door, acts, events } = view;
  const name = nameOf(view);
  const groups = customers.flatMap(({ groups }) => groups);
  const facts = [view.displayName !== null && view.username !== email && view.username, email].filter(Boolean);
  return (
    <>
      <header className="title">
        <span className="arch" aria-hidden="true">
          {initialsOf(name)}
        </span>
        <div>
          <h1>{name}</h1>
          <p className="soft">
            {facts.map((fact) => `${fact} · `)}
            {customers.map(({ key, name }, at) => (
              <span key={key}>
                {at > 0 && ', '}
                <a href={toDesk(customerPath(key))}>{name}</a>
              </span>
            ))}
            {groups.length > 0 && ` · ${text('desk-groups-are', { groups: groups.join(', ') })}`}
            {view.role !== null && ` · ${text(`desk-is-${view.role}`)}`}
          </p>
        </div>
        <StateMark {...view.state} />
      </header>
      <div className="cols">
        <div className="stackup">
          {chain && <Verdict chain={chain} hint={hint} />}
          {door.length > 0 && <Door door={door} name={name} />}
          <Panel title="desk-last-events">
            <EventTable events={events} isOfPerson />
          </Panel>
        </div>
        <div className="stackup">
          <Acts view={view} acts={acts.filter((act) => act !== chain?.act)} />
          <Factors {...view} />
          <Sessions {...view} />
        </div>
      </div>
    </>
  );
}

const nameOf = ({ displayName, username }: View) => displayName ?? username;

function Acts({ view, acts }: { view: View; acts: DeskAct[] }) {
  const hint = useHint(view);
  if (acts.length === 0) return null;
  return (
    <Panel title="desk-acts">
      <ul className="rows">
        {acts.map((act) => (
          <li key={act}>
            <Act act={act} hint={hint(act)} isBad={act === 'deactivate'}>
              <Entries act={act} view={view} />
            </Act>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** What will happen, in a sentence. */
function useHint({ username, displayName, email, factors, resetAt, sessions }: View) {
  const { text, actor } = useDesk();
  return (act: DeskAct): ReactNode => {
    if (act === 'keepFactor' && resetAt !== null) return <TextAt text="desk-will-keepFactor" at={resetAt} />;
    const isInvitation = act === 'sendLink' && factors?.password === 'none';
    const does = isInvitation ? 'invite' : act === 'customers' && actor.isAdministrator ? 'leave' : act;
    const values = { name: displayName ?? username, email: email ?? '', count: sessions.length };
    return text(`desk-will-${does}` as AccountKey, values);
  };
}

/** What is typed or chosen for an act. */
function Entries({ act, view }: { act: DeskAct; view: View }) {
  const { text, actor } = useDesk();
  const { customers, displayName, email, language, role, roles } = view;
  const keys = customers.map(({ key }) => key);
  const noLanguage = { key: '', name: text('desk-language-browser') };
  switch (act) {
    case 'change':
      return (
        <>
          <Entry of={act} name="name" value={displayName ?? ''} />
          <Entry of={act} name="email" value={email ?? ''} isRequired />
          <Entry
            of={act}
            name="language"
            value={language ?? ''}
            options={[noLanguage, ...languages.map((tag) => ({ key: tag, name: languageNames[tag] }))]}
          />
        </>
      );
    case 'groups': {
      const groups = customers.flatMap(({ key, groups }) => groups.map((group) => `${key}:${group}`));
      return <Entry of={act} name="groups" value={groups.join('\n')} isLines />;
    }
    case 'customers':
      if (actor.isAdministrator) return <Entry of={act} name="customer" options={customers} />;
      return <Entry of={act} name="customers" value={keys.join(' ')} />;
    case 'administer':
      return (
        <>
          <Entry of={act} name="customer" options={customers} />
          <Entry of={act} name="administers" value={customers[0]?.administers ? 'on' : 'off'} options={['on', 'off']} />
        </>
      );
    case 'role':
      return <Entry of={act} name="role" value={role ?? 'none'} options={['none', ...roles]} />;
    case 'resetFactor':
      return roles.includes('operator') && <Entry of={act} name="when" options={['later', 'now']} />;
    default:
      return null;
  }
}

/** How they sign in. */
function Factors({ factors, resetAt }: View) {
  const { text } = useDesk();
  if (factors === null) return null;
  const { password, passkeys, appSince, recoveryCodesLeft, devices } = factors;
  const rows: [string, ReactNode][] = [
    [text('account-password-title'), text(`desk-password-${password}`)],
    ...passkeys.map(({ name, lastUsedAt }): [string, ReactNode] => [
      text('desk-passkey', { name }),
      lastUsedAt ? (
        <TextAt key="used" text="account-last-used" at={lastUsedAt} isDay />
      ) : (
        text('account-passkeys-unused')
      ),
    ]),
    [
      text('account-app-title'),
      appSince ? <TextAt key="since" text="account-since" at={appSince} isDay /> : text('account-app-none'),
    ],
  ];
  if (appSince !== null)
    rows.push([text('account-recovery-codes-title'), text('account-count-left', { count: recoveryCodesLeft })]);
  if (devices > 0) rows.push([text('account-devices-title'), devices]);
  if (resetAt !== null) rows.push([text('desk-reset-at'), <Time key="reset" at={resetAt} />]);
  return (
    <Panel title="desk-factors">
      <Facts rows={rows} />
    </Panel>
  );
}

/** Where they are signed in. */
function Sessions({ sessions }: View) {
  const { text } = useDesk();
  if (sessions.length === 0) return null;
  const rows = sessions.map(({ browser, address, lastSeenAt, provider }): [string, ReactNode] => [
    browser ?? text('account-browser-unknown'),
    <>
      {address} {provider !== null && text('account-by-provider', { provider })} <Time at={lastSeenAt} />
    </>,
  ]);
  return (
    <Panel title="desk-signed-in">
      <Facts rows={rows} />
    </Panel>
  );
}

function Facts({ rows }: { rows: [string, ReactNode][] }) {
  return (
    <ul className="rows">
      {rows.map(([name, fact], at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they have no identity but their order
        <Row key={at} name={name} facts={[]}>
          <span className="soft">{fact}</span>
        </Row>
      ))}
    </ul>
  );
}
