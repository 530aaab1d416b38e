import { Icon } from './icon.tsx';

/** The icons of the second script. */
export const sealShapes = {
  check: 'm4.5 10.5 3.6 3.6 7.4-8.2',
  bang: 'M10 4.5v7M10 15.2v.1',
  mail: 'M4.75 4.5h10.5a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2H4.75a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2ZM3.5 6l6.5 5 6.5-5',
  shield: 'M10 2.5 16 4.7v4.5c0 4-2.5 6.7-6 8.3-3.5-1.6-6-4.3-6-8.3V4.7ZM10 7v3.4M10 13v.1',
  key: 'M3 13.25a3.75 3.75 0 1 0 7.5 0 3.75 3.75 0 1 0-7.5 0ZM9.5 10.5l7-7m-3 3 2.5 2.5m-5 0 1.5 1.5',
  copy: 'M9 7h5.5a2 2 0 0 1 2 2v5.5a2 2 0 0 1-2 2H9a2 2 0 0 1-2-2V9a2 2 0 0 1 2-2ZM13 4.5a1 1 0 0 0-1-1H5.5a2 2 0 0 0-2 2V12a1 1 0 0 0 1 1',
  download: 'M10 3.5v9m-3.6-3.4 3.6 3.6 3.6-3.6M4 16.5h12',
  print: 'M6 7.5v-4h8v4M6 14H3.5V7.5h13V14H14M6 11.5h8v5H6Z',
  open: 'M2.75 10a7.25 7.25 0 1 0 14.5 0 7.25 7.25 0 1 0-14.5 0Z',
  met: 'M1 10a9 9 0 1 0 18 0 9 9 0 1 0-18 0ZM6.5 10.3l2.4 2.4 4.7-5.2',
  broken: 'M1 10a9 9 0 1 0 18 0 9 9 0 1 0-18 0ZM10 5.8v4.9M10 13.9v.1',
};

/** The arch-shaped tile above the heading of a result. */
export function Seal({ icon, kind = 'plain' }: { icon: keyof typeof sealShapes; kind?: 'plain' | 'bad' | 'good' }) {
  return (
    <div className={kind === 'plain' ? 'seal' : `seal ${kind}`}>
      <Icon shape={sealShapes[icon]} size={24} />
    </div>
  );
}
