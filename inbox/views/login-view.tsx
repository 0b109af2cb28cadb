// The login: with a password, or with a token where the installation has no passwords.
import { useState } from 'preact/hooks';
import type { Inbox } from '../inbox.ts';
import { Refused } from '../service/api.ts';
import type { Text } from '../texts/index.ts';
import { useUi } from './context.ts';

const faultOf = (error: unknown): Text =>
  !(error instanceof Refused) ? 'unreachable' : error.status === 429 ? 'loginLimited' : error.status < 500 ? 'loginFailed' : 'unreachable';

/** @param username who was logged in until the session ended; '' for nobody */
export function LoginView({ inbox, username: known }: { inbox: Inbox; username: string }) {
  const { say } = useUi();
  const [hasToken, setHasToken] = useState(false);
  const [fault, setFault] = useState<Text | null>(known === '' ? null : 'loginExpired');
  const [isBusy, setBusy] = useState(false);
  const [username, setUsername] = useState(known);
  const [secret, setSecret] = useState('');
  const logIn = async (): Promise<void> => {
    setBusy(true);
    setFault(null);
    try {
      await inbox.logIn(hasToken ? { token: secret.trim() } : { username, password: secret });
    } catch (error) {
      setFault(faultOf(error));
    }
    setBusy(false);
  };
  return (
    <form
      class="form login"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void logIn();
      }}
    >
      <h1>{say('inbox')}</h1>
      {fault && <p role="alert">{say(fault)}</p>}
      {!hasToken && (
        <div class="field">
          <label for="username">{say('user')}</label>
          <input
            id="username"
            autoComplete="username"
            autoCapitalize="none"
            required
            value={username}
            onInput={({ currentTarget }) => setUsername(currentTarget.value)}
          />
        </div>
      )}
      <div class="field">
        <label for="secret">{say(hasToken ? 'token' : 'password')}</label>
        <input
          id="secret"
          type="password"
          autoComplete={hasToken ? 'off' : 'current-password'}
          required
          value={secret}
          onInput={({ currentTarget }) => setSecret(currentTarget.value)}
        />
      </div>
      <button type="submit" class="button primary" disabled={isBusy}>
        {say('logIn')}
      </button>
      <button
        type="button"
        class="quiet-button"
        onClick={() => {
          setHasToken(!hasToken);
          setSecret('');
          setFault(null);
        }}
      >
        {say(hasToken ? 'withPassword' : 'withToken')}
      </button>
    </form>
  );
}
