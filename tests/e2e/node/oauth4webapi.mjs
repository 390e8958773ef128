// The flow as panva's oauth4webapi goes it: discovery, PKCE, `iss` checked, exchange, the API, refresh, revocation.

import * as oauth from 'oauth4webapi'
import { check, hear, say } from './talk.mjs'

const told = await hear()
const issuer = new URL(told.issuer)
const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2' })
const server = await oauth.processDiscoveryResponse(issuer, discovered)

const client = { client_id: told.client_id }
const credentials = {
    post: () => oauth.ClientSecretPost(told.client_secret),
    basic: () => oauth.ClientSecretBasic(told.client_secret),
    none: () => oauth.None(),
}[told.method]()
const verifier = oauth.generateRandomCodeVerifier()
const state = oauth.generateRandomState()

const ask = new URL(server.authorization_endpoint)
ask.search = new URLSearchParams({
    client_id: client.client_id,
    response_type: 'code',
    scope: told.scope,
    redirect_uri: told.redirect_uri,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
})
say({ authorize: ask.href })

const answer = oauth.validateAuthResponse(server, client, new URL((await hear()).location), state)
const exchanged = await oauth.authorizationCodeGrantRequest(server, client, credentials, answer, told.redirect_uri, verifier)
const tokens = await oauth.processAuthorizationCodeResponse(server, client, exchanged)
check(tokens.refresh_token, 'a refresh token')

async function balance(token) {
    const response = await oauth.protectedResourceRequest(token, 'GET', new URL(told.balance_url))
    return (await response.json()).balance
}
say({ balance: await balance(tokens.access_token), scope: tokens.scope })

const again = await oauth.refreshTokenGrantRequest(server, client, credentials, tokens.refresh_token)
const refreshed = await oauth.processRefreshTokenResponse(server, client, again)
check(refreshed.access_token !== tokens.access_token, 'a new access token')
const isReplaced = refreshed.refresh_token !== undefined && refreshed.refresh_token !== tokens.refresh_token
check(isReplaced === (told.method === 'none'), 'a new refresh token of a public client')
say({ balance: await balance(refreshed.access_token) })

const revoked = await oauth.revocationRequest(server, client, credentials, refreshed.refresh_token ?? tokens.refresh_token)
await oauth.processRevocationResponse(revoked)
let refusal
try {
    await balance(refreshed.access_token)
} catch (error) {
    refusal = error
}
check(refusal instanceof oauth.WWWAuthenticateChallengeError, `a challenge, not ${refusal}`)
say({ status: refusal.status, error: refusal.cause.map((each) => each.parameters.error).find(Boolean) })
process.exit(0)
