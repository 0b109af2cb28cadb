/** See bundles.mjs. */
export function makeBundle(
  bundle: { entry: string; file: string; options: object },
  at: {
    write(file: string, contents: Uint8Array): void;
    files: Readonly<Record<string, { hash: string }>>;
    before: readonly string[];
    root?: string;
    out?: string;
  },
): Promise<{ inputs: Record<string, string>; outputs: string[] }>;
