import { hexOf, houseBrand, litFrom, type Oklch, oklchOf } from '../config/colour.ts';

/** The colours of an email in one theme, as `#rrggbb`. */
export type MailColours = {
  floor: string;
  wall: string;
  /** The arch around the door, and its side, which shows its thickness. */
  order: string;
  orderSide: string;
  door: string;
  doorSide: string;
  text: string;
  muted: string;
  accent: string;
  fill: string;
  edge: string;
  label: string;
};

/** The colours of the pages (`config/brand-colours.ts`) for email programs, which do not support variables. */
export function mailLayoutColours(accentColour: string | null): { day: MailColours; night: MailColours } {
  const brand = oklchOf(accentColour ?? houseBrand);
  return { day: dayColours(brand), night: nightColours(brand) };
}

function dayColours({ l, c, h }: Oklch): MailColours {
  const isLit = l > litFrom;
  return {
    floor: '#dedcd5',
    wall: '#f1efeb',
    order: '#f6f4f1',
    orderSide: '#e7e5e0',
    door: '#ffffff',
    doorSide: '#ebe9e5',
    text: hexOf({ l: 0.22, c: Math.min(c * 0.2, 0.03), h }),
    muted: hexOf({ l: 0.38, c: Math.min(c * 0.2, 0.025), h }),
    accent: hexOf({ l: Math.min(l, 0.386), c: Math.min(c, 0.15), h }),
    fill: hexOf({ l: isLit ? Math.min(Math.max(l, 0.79), 0.87) : Math.min(l, 0.41), c: Math.min(c, 0.16), h }),
    edge: hexOf({ l: Math.min(l, isLit ? 0.56 : 0.41), c: Math.min(c, 0.15), h }),
    label: hexOf({ l: isLit ? 0.17 : 1, c: 0, h }),
  };
}

function nightColours({ l, c, h }: Oklch): MailColours {
  const fill = hexOf({ l: Math.min(Math.max(l, 0.83), 0.9), c: Math.min(c, 0.1), h });
  return {
    floor: hexOf({ l: 0.128, c: Math.min(c * 0.12, 0.016), h }),
    wall: hexOf({ l: 0.186, c: Math.min(c * 0.18, 0.025), h }),
    order: hexOf({ l: 0.208, c: Math.min(c * 0.22, 0.03), h }),
    orderSide: hexOf({ l: 0.262, c: Math.min(c * 0.38, 0.054), h }),
    door: hexOf({ l: 0.256, c: Math.min(c * 0.3, 0.044), h }),
    doorSide: hexOf({ l: 0.34, c: Math.min(c * 0.48, 0.07), h }),
    text: hexOf({ l: 0.965, c: Math.min(c * 0.05, 0.006), h }),
    muted: hexOf({ l: 0.82, c: Math.min(c * 0.12, 0.015), h }),
    accent: hexOf({ l: Math.max(l, 0.83), c: Math.min(c, 0.1), h }),
    fill,
    edge: fill,
    label: hexOf({ l: 0.17, c: Math.min(c, 0.03), h }),
  };
}
