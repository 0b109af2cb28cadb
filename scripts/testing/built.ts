// Before tests that run the built service: dist/ and the page of the inbox are brought up to date, so that none tries an older build.
import { build } from '../build.mjs';

export default async function built(): Promise<void> {
  await build();
}
