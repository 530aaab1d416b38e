/** When a session ends at the latest: after its lifetime, or earlier if the provider it came from says so. */
export function sessionEnd(now: Date, lifetime: number, providerEndsAt: Date | null): Date {
  const end = now.getTime() + lifetime;
  return new Date(providerEndsAt ? Math.min(end, providerEndsAt.getTime()) : end);
}
