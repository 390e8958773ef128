// The flow as simple-oauth2 goes it, which many programs on Node sign in with.

import { AuthorizationCode } from 'simple-oauth2'
import { check, hear, say } from './talk.mjs'

const told = await hear()
const client = new AuthorizationCode({
    client: { id: told.client_id, secret: told.client_secret },
    auth: {
        tokenHost: told.issuer,
        tokenPath: '/user/oauth_token/',
        revokePath: '/user/oauth_revoke/',
        authorizePath: '/en/user/oauth/',
    },
    http: { headers: { 'User-Agent': 'simple-oauth2' } }, // it sends none by itself, and every request names its program
    options: { bodyFormat: told.json ? 'json' : 'form', authorizationMethod: told.method === 'post' ? 'body' : 'header' },
})
say({ authorize: client.authorizeURL({ redirect_uri: told.redirect_uri, scope: told.scope, state: 'a state' }) })

const back = new URL((await hear()).location)
check(back.searchParams.get('state') === 'a state', 'the state that was sent')
const tokens = await client.getToken({ code: back.searchParams.get('code'), redirect_uri: told.redirect_uri })

async function ask(token) {
    return fetch(told.balance_url, { headers: { Authorization: `Bearer ${token}` } })
}
say({ balance: (await (await ask(tokens.token.access_token)).json()).balance, scope: tokens.token.scope })

const refreshed = await tokens.refresh()
say({ balance: (await (await ask(refreshed.token.access_token)).json()).balance })

await tokens.revoke('refresh_token')
say({ status: (await ask(refreshed.token.access_token)).status, error: 'invalid_token' })
process.exit(0)
