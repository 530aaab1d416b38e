import { Icon } from './icon.tsx';
import { laterShapes } from './later-shapes.tsx';

/** The arch-shaped tile above the heading of a result. */
export function Seal({ icon, kind = 'plain' }: { icon: keyof typeof laterShapes; kind?: 'plain' | 'bad' | 'good' }) {
  return (
    <div className={kind === 'plain' ? 'seal' : `seal ${kind}`}>
      <Icon shape={laterShapes[icon]} size={24} />
    </div>
  );
}
