// The authorization code flow with simple-oauth2, a common library for Node.

import { AuthorizationCode } from 'simple-oauth2'
import { check, receive, send } from './protocol.mjs'

const config = await receive()
const client = new AuthorizationCode({
    client: { id: config.client_id, secret: config.client_secret },
    auth: {
        tokenHost: config.issuer,
        tokenPath: '/user/oauth_token/',
        revokePath: '/user/oauth_revoke/',
        authorizePath: '/en/user/oauth/',
    },
    http: { headers: { 'User-Agent': 'simple-oauth2' } }, // the library sends none, and the API requires one
    options: { bodyFormat: config.json ? 'json' : 'form', authorizationMethod: config.method === 'post' ? 'body' : 'header' },
})
send({ authorize: client.authorizeURL({ redirect_uri: config.redirect_uri, scope: config.scope, state: 'a state' }) })

const redirect = new URL((await receive()).location)
check(redirect.searchParams.get('state') === 'a state', 'the state that was sent')
const tokens = await client.getToken({ code: redirect.searchParams.get('code'), redirect_uri: config.redirect_uri })

async function request_balance(token) {
    return fetch(config.balance_url, { headers: { Authorization: `Bearer ${token}` } })
}
send({ balance: (await (await request_balance(tokens.token.access_token)).json()).balance, scope: tokens.token.scope })

const refreshed = await tokens.refresh()
send({ balance: (await (await request_balance(refreshed.token.access_token)).json()).balance })

await tokens.revoke('refresh_token')
send({ status: (await request_balance(refreshed.token.access_token)).status, error: 'invalid_token' })
process.exit(0)
