// The authorization code flow with panva's oauth4webapi: discovery, PKCE, a check of `iss`, exchange, the API, refresh, revocation.

import * as oauth from 'oauth4webapi'
import { check, receive, send } from './protocol.mjs'

const config = await receive()
const issuer = new URL(config.issuer)
const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2' })
const server = await oauth.processDiscoveryResponse(issuer, discovered)

const client = { client_id: config.client_id }
const credentials = {
    post: () => oauth.ClientSecretPost(config.client_secret),
    basic: () => oauth.ClientSecretBasic(config.client_secret),
    none: () => oauth.None(),
}[config.method]()
const verifier = oauth.generateRandomCodeVerifier()
const state = oauth.generateRandomState()

const authorize = new URL(server.authorization_endpoint)
authorize.search = new URLSearchParams({
    client_id: client.client_id,
    response_type: 'code',
    scope: config.scope,
    redirect_uri: config.redirect_uri,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
})
send({ authorize: authorize.href })

const redirect = oauth.validateAuthResponse(server, client, new URL((await receive()).location), state)
const exchanged = await oauth.authorizationCodeGrantRequest(server, client, credentials, redirect, config.redirect_uri, verifier)
const tokens = await oauth.processAuthorizationCodeResponse(server, client, exchanged)
check(tokens.refresh_token, 'a refresh token')

async function balance(token) {
    const response = await oauth.protectedResourceRequest(token, 'GET', new URL(config.balance_url))
    return (await response.json()).balance
}
send({ balance: await balance(tokens.access_token), scope: tokens.scope })

const refreshResponse = await oauth.refreshTokenGrantRequest(server, client, credentials, tokens.refresh_token)
const refreshed = await oauth.processRefreshTokenResponse(server, client, refreshResponse)
check(refreshed.access_token !== tokens.access_token, 'a new access token')
const isReplaced = refreshed.refresh_token !== undefined && refreshed.refresh_token !== tokens.refresh_token
check(isReplaced === (config.method === 'none'), 'a new refresh token of a public client')
send({ balance: await balance(refreshed.access_token) })

const revoked = await oauth.revocationRequest(server, client, credentials, refreshed.refresh_token ?? tokens.refresh_token)
await oauth.processRevocationResponse(revoked)
let refusal
try {
    await balance(refreshed.access_token)
} catch (error) {
    refusal = error
}
check(refusal instanceof oauth.WWWAuthenticateChallengeError, `a challenge, not ${refusal}`)
send({ status: refusal.status, error: refusal.cause.map((each) => each.parameters.error).find(Boolean) })
process.exit(0)
