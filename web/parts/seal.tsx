import { Icon, type IconName } from './icon.tsx';

/** The arch-shaped tile above the heading of a result. */
export function Seal({ icon, kind = 'plain' }: { icon: IconName; kind?: 'plain' | 'bad' | 'good' }) {
  return (
    <div className={kind === 'plain' ? 'seal' : `seal ${kind}`}>
      <Icon name={icon} size={24} />
    </div>
  );
}
