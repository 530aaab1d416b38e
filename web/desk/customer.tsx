import { customerPath, customerPolicies, type DeskViewOf, peopleFilters, personPath } from '#contract/desk.ts';
import { AccountForm, Panel } from '../account/account-form.tsx';
import { Title } from '../account/account-screen.tsx';
import { TextAt } from '../account/times.tsx';
import { Icon, shapes } from '../components/icon.tsx';
import { useDesk } from './desk-context.tsx';
import { Act, Entry, Filter, Seen } from './form.tsx';
import { PeopleTable } from './table.tsx';

type View = DeskViewOf<'customer'>;

/** A customer: their people, networks and connections, and what else can be done. */
export function CustomerPage(view: View) {
  const { text, toDesk } = useDesk();
  const { customerKey, displayName, active, policies, acts } = view;
  const mayChange = acts.includes('policies');
  const facts = policies.map(({ name, value }) => `${text(`desk-field-${name}`)}: ${text(`desk-is-${value}`)}`);
  const set = policies.map(({ name, value }) => ({ name, value, options: customerPolicies[name] }));
  const entries = [{ name: 'name', value: displayName, isRequired: true }, ...set];
  const links = (
    <p className="links">
      {mayChange && <a href="#policies">{text('desk-act-policies')}</a>}
      <a href={toDesk('/events', { customer: customerKey })}>{text('desk-events')}</a>
    </p>
  );
  return (
    <>
      <Title name={displayName} beside={links}>
        <h1>{displayName}</h1>
        <p className="soft">{facts.slice(0, 3).join(' · ')}</p>
        {!active && <p className="state bad">{text('desk-customer-off')}</p>}
      </Title>
      <div className="cols">
        <People {...view} />
        <div className="stackup">
          <Networks {...view} />
          <Connections {...view} />
          {mayChange && (
            <section className="panel">
              <Act act="policies" hint={text('desk-will-policies')} button="desk-do-policies" entries={entries} />
            </section>
          )}
        </div>
      </div>
    </>
  );
}

const invited = [
  { name: 'email', isRequired: true },
  { name: 'name' },
  { name: 'username' },
  { name: 'groupNames', isLines: true },
];

function People({ customerKey, acts, people, total, filter: { person, state, from } }: View) {
  const { text, toDesk } = useDesk();
  const path = customerPath(customerKey);
  const last = from + people.length;
  const link = acts.includes('import') && <a href={toDesk(`${path}/import`)}>{text('desk-act-import')}</a>;
  return (
    <Panel title="desk-people" link={link}>
      {acts.includes('invite') && (
        <Act act="invite" hint={text('desk-will-invitation')} button="desk-do-invite" entries={invited} />
      )}
      <Filter values={{ person, state }} kinds={{ state: { options: peopleFilters } }} />
      <PeopleTable people={people} found={person} />
      <p className="row">
        <span className="soft">{text('desk-shown', { from: Math.min(from + 1, last), to: last, total })}</span>
        {last < total && <a href={toDesk(path, { person, state, from: `${last}` })}>{text('desk-next')}</a>}
      </p>
    </Panel>
  );
}

/** From where people may sign in. What is typed is shown against last week before it can be saved. */
function Networks({ acts, networks, rehearsal }: View) {
  const { text } = useDesk();
  return (
    <Panel title="desk-networks">
      {!acts.includes('networks') && <p>{networks.join(', ') || text('desk-networks-anywhere')}</p>}
      {acts.includes('networks') && (
        <AccountForm action="networks">
          <Seen />
          <Entry of="networks" name="networks" value={networks.join('\n')} isLines />
          {rehearsal ? <Rehearsed {...rehearsal} /> : <p className="soft">{text('desk-will-networks')}</p>}
          <p className="filter">
            {rehearsal && (
              <button className="button" type="submit" name="rehearsed" value={rehearsal.networks}>
                {text('desk-do-networks')}
              </button>
            )}
            <button className="button quiet" type="submit">
              {text(rehearsal ? 'desk-rehearse-again' : 'desk-rehearse')}
            </button>
          </p>
        </AccountForm>
      )}
    </Panel>
  );
}

function Rehearsed({ signIns, refusedSignIns, refused, isOwnAddressOut }: NonNullable<View['rehearsal']>) {
  const { text, toDesk } = useDesk();
  const words = signIns === 0 ? 'none' : refusedSignIns === 0 ? 'all' : 'some';
  const more = refused.reduce((left, { count }) => left - count, refusedSignIns);
  // The smallest part is still seen.
  const part = Math.max(refusedSignIns, signIns / 100);
  return (
    <div className={refusedSignIns > 0 || isOwnAddressOut ? 'alert warn' : 'alert'} role="status">
      <Icon shape={shapes.alert} />
      <div className="stackup">
        <p>
          <strong>{text(`desk-rehearsal-${words}`, { signIns, refused: refusedSignIns })}</strong>
        </p>
        {isOwnAddressOut && <p>{text('desk-rehearsal-own')}</p>}
        {refusedSignIns > 0 && (
          <svg className="share" viewBox={`0 0 ${signIns} 6`} preserveAspectRatio="none" aria-hidden="true">
            <path d={`M0 0h${signIns - part}v6H0z`} />
            <path d={`M${signIns - part} 0h${part}v6h-${part}z`} />
          </svg>
        )}
        <ul className="rows">
          {refused.map(({ person, address, count }) => (
            <li className="row" key={person.id + address}>
              <span>
                <a href={toDesk(personPath(person.id))}>{person.name}</a> <span className="soft">{address}</span>
              </span>
              <span className="soft">{text('desk-sign-ins', { count })}</span>
            </li>
          ))}
          {more > 0 && <li className="soft">{text('desk-rehearsal-more', { count: more })}</li>}
        </ul>
      </div>
    </div>
  );
}

/** The identity providers: whether people come by them, what ends when, and whether they answer. */
function Connections({ acts, connections }: View) {
  const { text } = useDesk();
  return (
    <Panel title="desk-connections">
      <ul className="rows">
        {connections.map(({ key, name, protocol, active, signIns, ends, tested }) => (
          <li key={key}>
            <p className="row">
              <b>{name}</b>
              <span className={active ? 'state' : 'state plain'}>
                {text(active ? 'desk-sign-ins-week' : 'desk-connection-off', { count: signIns })}
              </span>
            </p>
            <p className="soft">
              {protocol === 'oidc' ? 'OpenID Connect.' : 'SAML.'}
              {ends.length === 0 && ` ${text('desk-ends-nothing')}`}
            </p>
            {ends.map(({ what, endsAt, tone }) => (
              <p className={tone ? `state ${tone}` : 'soft'} key={what}>
                <TextAt text={`desk-${tone === 'bad' ? 'over' : 'ends'}-${what}`} at={endsAt} isDay />
              </p>
            ))}
            <div className="acts">
              {(['testConnection', 'connection'] as const).map((act) => {
                const words = act === 'testConnection' ? 'desk-do-test' : active ? 'desk-do-off' : 'desk-do-on';
                return (
                  acts.includes(act) && (
                    <AccountForm key={act} action={act} button={words} about={name} look="quiet">
                      <input type="hidden" name="connection" value={key} />
                      <input type="hidden" name="active" value={active ? 'off' : 'on'} />
                    </AccountForm>
                  )
                );
              })}
            </div>
            {tested && (
              // In the words of the command line.
              <ul lang="en" role="status">
                {tested.map(({ step, ok, words }) => (
                  <li key={step + words}>
                    <span className={ok ? 'state' : 'state bad'}>{step}</span> <span className="soft">{words}</span>
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
      <p className="soft">
        {text('desk-connections-add')} <code>vestibule connection add</code>
      </p>
    </Panel>
  );
}
