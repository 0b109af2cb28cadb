/** A text or value does not fit its content type. The message is shown to users and holds no secret. */
export class ContentError extends Error {}
