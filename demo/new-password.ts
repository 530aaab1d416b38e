import { randomInt } from 'node:crypto';

const words =
  'amber anchor arbor basil beacon birch bridge canyon cedar cobalt copper coral ember falcon garnet granite harbour hazel indigo island ivory jasper juniper lagoon lantern linden maple marble meadow mosaic nectar olive onyx orchard pebble pepper quartz raven river saffron sierra silver spruce summit tundra umber valley velvet walnut willow winter zephyr'.split(
    ' ',
  );

/** A password for a demo: easy to read and to type on a phone, another one at every start, and good by the portal's rules. */
export function newPassword(): string {
  const first = randomInt(words.length);
  // Another one than the first.
  const second = (first + randomInt(1, words.length)) % words.length;
  return `${capitalized(first)}-${capitalized(second)}-${randomInt(10, 100)}`;
}

function capitalized(index: number): string {
  const word = words[index] as string;
  return word.charAt(0).toUpperCase() + word.slice(1);
}
