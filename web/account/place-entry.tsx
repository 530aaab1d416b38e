import { useAccountText } from './account-context.tsx';

type Props = { browser: string | null; isThis: boolean; facts: readonly string[] };

/** A browser in a list, with what is known of it. */
export function Place({ browser, isThis, facts }: Props) {
  const text = useAccountText();
  return (
    <div className="place">
      <h2>{browser ?? text('account-browser-unknown')}</h2>
      {isThis && <p className="this">{text('account-this')}</p>}
      {facts.map((fact) => (
        <p key={fact}>{fact}</p>
      ))}
    </div>
  );
}
