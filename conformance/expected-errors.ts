// What the cases make a service log as errors: chains of rules without an end, and programs that take so much that their sandbox is ended.
export const EXPECTED_ERRORS: readonly RegExp[] = [/^cascade\.rule\.chain\.depth: /, /^the sandbox process ended$/, /^a lane hangs$/];
